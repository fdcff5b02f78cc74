// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// dat_ia_query: the attributes of an IA and of its Provider, all together and one at a time.
#include <netinet/in.h>

#include <array>
#include <cstring>

#include "base/hex.hpp"
#include "suite/cases/dat/framework/dat_handle_cases.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

namespace {

/// A mask bit and the member that it stands for.
struct Field {
  const char* name;
  DAT_UINT64 bit;
  std::size_t offset, size;
};

#define IA_FIELD(bit, member)                                                                  \
  Field {                                                                                      \
    #member, DAT_IA_FIELD_IA_##bit, offsetof(DAT_IA_ATTR, member), sizeof(DAT_IA_ATTR::member) \
  }
#define PROVIDER_FIELD(bit, member)                                         \
  Field {                                                                   \
    #member, DAT_PROVIDER_FIELD_##bit, offsetof(DAT_PROVIDER_ATTR, member), \
        sizeof(DAT_PROVIDER_ATTR::member)                                   \
  }

constexpr std::array ia_fields{
    IA_FIELD(ADAPTER_NAME, adapter_name),
    IA_FIELD(VENDOR_NAME, vendor_name),
    IA_FIELD(HARDWARE_MAJOR_VERSION, hardware_version_major),
    IA_FIELD(HARDWARE_MINOR_VERSION, hardware_version_minor),
    IA_FIELD(FIRMWARE_MAJOR_VERSION, firmware_version_major),
    IA_FIELD(FIRMWARE_MINOR_VERSION, firmware_version_minor),
    IA_FIELD(MAX_EPS, max_eps),
    IA_FIELD(MAX_DTO_PER_EP, max_dto_per_ep),
    IA_FIELD(MAX_RDMA_READ_PER_EP_IN, max_rdma_read_per_ep_in),
    IA_FIELD(MAX_RDMA_READ_PER_EP_OUT, max_rdma_read_per_ep_out),
    IA_FIELD(MAX_EVDS, max_evds),
    IA_FIELD(MAX_EVD_QLEN, max_evd_qlen),
    IA_FIELD(MAX_IOV_SEGMENTS_PER_DTO, max_iov_segments_per_dto),
    IA_FIELD(MAX_LMRS, max_lmrs),
    IA_FIELD(MAX_LMR_BLOCK_SIZE, max_lmr_block_size),
    IA_FIELD(MAX_LMR_VIRTUAL_ADDRESS, max_lmr_virtual_address),
    IA_FIELD(MAX_PZS, max_pzs),
    IA_FIELD(MAX_MESSAGE_SIZE, max_message_size),
    IA_FIELD(MAX_RDMA_SIZE, max_rdma_size),
    IA_FIELD(MAX_RMRS, max_rmrs),
    IA_FIELD(MAX_RMR_TARGET_ADDRESS, max_rmr_target_address),
    IA_FIELD(MAX_SRQS, max_srqs),
    IA_FIELD(MAX_EP_PER_SRQ, max_ep_per_srq),
    IA_FIELD(MAX_RECV_PER_SRQ, max_recv_per_srq),
    IA_FIELD(MAX_IOV_SEGMENTS_PER_RDMA_READ, max_iov_segments_per_rdma_read),
    IA_FIELD(MAX_IOV_SEGMENTS_PER_RDMA_WRITE, max_iov_segments_per_rdma_write),
    IA_FIELD(MAX_RDMA_READ_IN, max_rdma_read_in),
    IA_FIELD(MAX_RDMA_READ_OUT, max_rdma_read_out),
    IA_FIELD(MAX_RDMA_READ_PER_EP_IN_GUARANTEED, max_rdma_read_per_ep_in_guaranteed),
    IA_FIELD(MAX_RDMA_READ_PER_EP_OUT_GUARANTEED, max_rdma_read_per_ep_out_guaranteed),
    IA_FIELD(ZB_SUPPORTED, zb_supported),
    IA_FIELD(EXTENSION, extension_supported),
    IA_FIELD(EXTENSION_VERSION, extension_version),
    IA_FIELD(NUM_TRANSPORT_ATTR, num_transport_attr),
    IA_FIELD(NUM_VENDOR_ATTR, num_vendor_attr),
};

constexpr std::array provider_fields{
    PROVIDER_FIELD(PROVIDER_NAME, provider_name),
    PROVIDER_FIELD(PROVIDER_VERSION_MAJOR, provider_version_major),
    PROVIDER_FIELD(PROVIDER_VERSION_MINOR, provider_version_minor),
    PROVIDER_FIELD(DAPL_VERSION_MAJOR, dapl_version_major),
    PROVIDER_FIELD(DAPL_VERSION_MINOR, dapl_version_minor),
    PROVIDER_FIELD(LMR_MEM_TYPE_SUPPORTED, lmr_mem_types_supported),
    PROVIDER_FIELD(IOV_OWNERSHIP, iov_ownership_on_return),
    PROVIDER_FIELD(DAT_QOS_SUPPORTED, dat_qos_supported),
    PROVIDER_FIELD(COMPLETION_FLAGS_SUPPORTED, completion_flags_supported),
    PROVIDER_FIELD(IS_THREAD_SAFE, is_thread_safe),
    PROVIDER_FIELD(MAX_PRIVATE_DATA_SIZE, max_private_data_size),
    PROVIDER_FIELD(SUPPORTS_MULTIPATH, supports_multipath),
    PROVIDER_FIELD(EP_CREATOR, ep_creator),
    PROVIDER_FIELD(PZ_SUPPORT, pz_support),
    PROVIDER_FIELD(OPTIMAL_BUFFER_ALIGNMENT, optimal_buffer_alignment),
    PROVIDER_FIELD(EVD_STREAM_MERGING_SUPPORTED, evd_stream_merging_supported),
    PROVIDER_FIELD(SRQ_SUPPORTED, srq_supported),
    PROVIDER_FIELD(SRQ_WATERMARKS_SUPPORTED, srq_watermarks_supported),
    PROVIDER_FIELD(SRQ_EP_PZ_DIFFERENCE_SUPPORTED, srq_ep_pz_difference_supported),
    PROVIDER_FIELD(SRQ_INFO_SUPPORTED, srq_info_supported),
    PROVIDER_FIELD(EP_RECV_INFO_SUPPORTED, ep_recv_info_supported),
    PROVIDER_FIELD(LMR_SYNC_REQ, lmr_sync_req),
    PROVIDER_FIELD(DTO_ASYNC_RETURN_GUARANTEED, dto_async_return_guaranteed),
    PROVIDER_FIELD(RDMA_WRITE_FOR_RDMA_READ_REQ, rdma_write_for_rdma_read_req),
};

DAT_RETURN query_ia(DAT_IA_HANDLE ia, DAT_UINT64 mask, DAT_IA_ATTR& attr) {
  return CALL(dat_ia_query, ia, nullptr, mask, &attr, 0, nullptr);
}
DAT_RETURN query_provider(DAT_IA_HANDLE ia, DAT_UINT64 mask, DAT_PROVIDER_ATTR& attr) {
  return CALL(dat_ia_query, ia, nullptr, 0, nullptr, mask, &attr);
}

std::string hex(const void* from, std::size_t size) {
  return base::to_hex(from, std::min<std::size_t>(size, 16));
}

/// Queried alone, the field has the value that it has among all.
template <typename Attr, typename Query>
void expect_alone(DatBody& body, const Field& field, const Attr& all, Query query) {
  body.row(field.name, [&] {
    Attr alone{};
    std::memset(static_cast<void*>(&alone), 0x5A, sizeof(Attr));
    body.expect(query(field.bit, alone), succeeds);
    const auto* got = reinterpret_cast<const char*>(&alone) + field.offset;
    const auto* wanted = reinterpret_cast<const char*>(&all) + field.offset;
    const bool text = field.size == DAT_NAME_MAX_LENGTH;
    body.expect_that(text ? std::strncmp(got, wanted, field.size) == 0
                          : std::memcmp(got, wanted, field.size) == 0,
                     hex(wanted, field.size), hex(got, field.size));
  });
}

void expect_names(DatBody& body, const char* what, DAT_COUNT count, const DAT_NAMED_ATTR* list) {
  body.row(what, [&] {
    at_least(body, "attributes", count, 0);
    if (count == 0) return;
    body.expect_that(list != nullptr, "a list", "null");
    for (DAT_COUNT i = 0; i < count; ++i)
      body.expect_that(list[i].name != nullptr && *list[i].name != '\0' && list[i].value != nullptr,
                       "a name with a value", "none");
  });
}

}  // namespace

DAT_CASE(query_returns_the_asynchronous_evd, calls(dat_ia_query), rules("dat.ia-query.success")) {
  DAT_EVD_HANDLE told = DAT_HANDLE_NULL;
  DAT_IA_ATTR attr{};
  DAT_PROVIDER_ATTR provider{};
  expect(CALL(dat_ia_query, ia().get(), &told, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL,
              &provider),
         succeeds);
  same(*this, "asynchronous EVD", told, ia().async_evd());
}

DAT_CASE(adapter_is_named_as_it_was_opened, calls(dat_ia_query),
         rules("dat.ia-query.ia-attributes")) {
  DAT_IA_ATTR attr{};
  expect(query_ia(ia().get(), DAT_IA_FIELD_ALL, attr), succeeds);
  // A lawful provider may report the name of the device instead.
  advise_that(target().ia == attr.adapter_name, target().ia, attr.adapter_name);
  expect_that(attr.adapter_name[0] != '\0', "a name", "none");
}

DAT_CASE(address_of_the_ia_is_an_ip_address, calls(dat_ia_query),
         rules("dat.ia-query.ia-attributes")) {
  DAT_IA_ATTR attr{};
  expect(query_ia(ia().get(), DAT_IA_FIELD_ALL, attr), succeeds);
  const auto* address = reinterpret_cast<const sockaddr*>(attr.ia_address_ptr);
  expect_that(address != nullptr, "an address", "null");
  expect_that(address->sa_family == AF_INET || address->sa_family == AF_INET6, "IPv4 or IPv6",
              fmt::format("family {}", address->sa_family));
}

DAT_CASE(limits_of_the_ia_let_it_be_used, calls(dat_ia_query),
         rules("dat.ia-query.ia-attributes")) {
  DAT_IA_ATTR attr{};
  expect(query_ia(ia().get(), DAT_IA_FIELD_ALL, attr), succeeds);
  const std::pair<const char*, DAT_COUNT> counts[] = {
      {"max_eps", attr.max_eps},
      {"max_dto_per_ep", attr.max_dto_per_ep},
      {"max_evds", attr.max_evds},
      {"max_evd_qlen", attr.max_evd_qlen},
      {"max_iov_segments_per_dto", attr.max_iov_segments_per_dto},
      {"max_lmrs", attr.max_lmrs},
      {"max_pzs", attr.max_pzs},
      {"max_iov_segments_per_rdma_read", attr.max_iov_segments_per_rdma_read},
      {"max_iov_segments_per_rdma_write", attr.max_iov_segments_per_rdma_write}};
  for (const auto& [name, count] : counts) row(name, [&] { at_least(*this, name, count, 1); });
  at_least(*this, "max_message_size", attr.max_message_size, 1);
  at_least(*this, "max_rdma_size", attr.max_rdma_size, 1);
  at_least(*this, "max_lmr_block_size", attr.max_lmr_block_size, 1);
  at_least(*this, "max_lmr_virtual_address", attr.max_lmr_virtual_address,
           reinterpret_cast<DAT_VADDR>(&attr));
}

DAT_CASE(each_ia_attribute_is_answered_alone, calls(dat_ia_query),
         rules("dat.ia-query.ia-attributes")) {
  DAT_IA_ATTR all{};
  need(query_ia(ia().get(), DAT_IA_FIELD_ALL, all), "no attributes");
  for (const Field& field : ia_fields)
    expect_alone(*this, field, all, [&](DAT_UINT64 bit, DAT_IA_ATTR& attr) {
      return query_ia(ia().get(), bit, attr);
    });
}

DAT_CASE(each_provider_attribute_is_answered_alone, calls(dat_ia_query),
         rules("dat.ia-query.provider-attributes")) {
  DAT_PROVIDER_ATTR all{};
  need(query_provider(ia().get(), DAT_PROVIDER_FIELD_ALL, all), "no attributes");
  for (const Field& field : provider_fields)
    expect_alone(*this, field, all, [&](DAT_UINT64 bit, DAT_PROVIDER_ATTR& attr) {
      return query_provider(ia().get(), bit, attr);
    });
}

DAT_CASE(provider_name_and_version_are_those_opened, calls(dat_ia_query),
         rules("dat.ia-query.provider-attributes")) {
  DAT_PROVIDER_ATTR attr{};
  expect(query_provider(ia().get(), DAT_PROVIDER_FIELD_ALL, attr), succeeds);
  same(*this, "dapl_version_major", attr.dapl_version_major, DAT_VERSION_MAJOR);
  at_least(*this, "dapl_version_minor", attr.dapl_version_minor, DAT_VERSION_MINOR);
  same(*this, "is_thread_safe", attr.is_thread_safe, DAT_FALSE);
}

DAT_CASE(private_data_of_64_octets_is_supported, calls(dat_ia_query),
         rules("dat.ia-query.provider-attributes")) {
  DAT_PROVIDER_ATTR attr{};
  expect(query_provider(ia().get(), DAT_PROVIDER_FIELD_ALL, attr), succeeds);
  at_least(*this, "max_private_data_size", attr.max_private_data_size, 64);
}

DAT_CASE(optimal_alignment_divides_that_of_dat, calls(dat_ia_query),
         rules("dat.ia-query.provider-attributes")) {
  DAT_PROVIDER_ATTR attr{};
  expect(query_provider(ia().get(), DAT_PROVIDER_FIELD_ALL, attr), succeeds);
  const DAT_UINT32 alignment = attr.optimal_buffer_alignment;
  expect_that(alignment != 0 && DAT_OPTIMAL_ALIGNMENT % alignment == 0,
              fmt::format("a divisor of {}", DAT_OPTIMAL_ALIGNMENT), fmt::format("{}", alignment));
}

DAT_CASE(each_stream_can_share_an_evd_with_itself, calls(dat_ia_query),
         rules("dat.ia-query.provider-attributes")) {
  DAT_PROVIDER_ATTR attr{};
  expect(query_provider(ia().get(), DAT_PROVIDER_FIELD_ALL, attr), succeeds);
  for (std::size_t i = 0; i < 6; ++i) {
    same(*this, fmt::format("stream {} with itself", i), attr.evd_stream_merging_supported[i][i],
         DAT_TRUE);
    for (std::size_t j = 0; j < i; ++j)
      same(*this, fmt::format("stream {} with {}", i, j), attr.evd_stream_merging_supported[i][j],
           attr.evd_stream_merging_supported[j][i]);
  }
}

DAT_CASE(streams_that_can_share_an_evd_do, calls(dat_ia_query, dat_evd_create),
         rules("dat.ia-query.provider-attributes")) {
  DAT_PROVIDER_ATTR attr{};
  expect(query_provider(ia().get(), DAT_PROVIDER_FIELD_ALL, attr), succeeds);
  constexpr std::array streams{DAT_EVD_SOFTWARE_FLAG,   DAT_EVD_CR_FLAG,       DAT_EVD_DTO_FLAG,
                               DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG, DAT_EVD_ASYNC_FLAG};
  for (std::size_t i = 0; i < streams.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (attr.evd_stream_merging_supported[i][j] == DAT_FALSE) continue;
      DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
      expect(CALL(dat_evd_create, ia().get(), 4, DAT_HANDLE_NULL,
                  static_cast<DAT_EVD_FLAGS>(streams[i] | streams[j]), &evd),
             succeeds);
      (void)dat_evd_free(evd);
    }
}

DAT_CASE(service_points_are_as_the_provider_says, calls(dat_ia_query, dat_psp_create_any),
         rules("dat.ia-query.provider-attributes")) {
  DAT_PROVIDER_ATTR attr{};
  expect(query_provider(ia().get(), DAT_PROVIDER_FIELD_ALL, attr), succeeds);
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const auto offered = [&](DAT_PSP_FLAGS flags, bool claimed) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    const DAT_RETURN got =
        CALL(dat_psp_create_any, ia().get(), &qualifier, requests.get(), flags, &psp);
    expect(got, returns(claimed ? DAT_SUCCESS : DAT_MODEL_NOT_SUPPORTED));
    if (got == DAT_SUCCESS) (void)dat_psp_free(psp);
  };
  row("the consumer's endpoints",
      [&] { offered(DAT_PSP_CONSUMER_FLAG, attr.ep_creator != DAT_PSP_CREATES_EP_ALWAYS); });
  row("the provider's endpoints",
      [&] { offered(DAT_PSP_PROVIDER_FLAG, attr.ep_creator != DAT_PSP_CREATES_EP_NEVER); });
}

/// A consumer asks the attributes first, and leaves alone what they do not state.
DAT_CASE(what_works_is_stated, calls(dat_ia_query), rules("dat.ia-query.stated")) {
  const Pz pz = ia().pz();
  DAT_PROVIDER_ATTR attr{};
  need(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
       "no attributes");
  const auto stated = [&](const char* name, DAT_RETURN got, bool is_stated) {
    if (got == DAT_SUCCESS)
      row(name, [&] { advise_that(is_stated, "stated", "it works, and is not stated"); });
  };
  DAT_SRQ_ATTR srq_attr{.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = 0};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  const DAT_RETURN queue = CALL(dat_srq_create, ia().get(), pz.get(), &srq_attr, &srq);
  const Srq made(srq);
  stated("shared receive queues", queue, attr.srq_supported != DAT_FALSE);
  DAT_SRQ_PARAM param{};
  const bool counted = queue == DAT_SUCCESS &&
                       CALL(dat_srq_query, srq, DAT_SRQ_FIELD_ALL, &param) == DAT_SUCCESS &&
                       param.available_dto_count != DAT_VALUE_UNKNOWN;
  if (counted) stated("counts of a shared receive queue", queue, attr.srq_info_supported != 0);
  DAT_RMR_HANDLE window = DAT_HANDLE_NULL;
  const DAT_RETURN for_endpoint = CALL(DAT_RMR_CREATE_FOR_EP, pz.get(), &window);
  const Rmr rmr(window);
  stated("windows of an endpoint", for_endpoint,
         attr.rmr_scope_supported == DAT_RMR_SCOPE_ANY ||
             attr.rmr_scope_supported == DAT_RMR_SCOPE_EP);
  std::vector<std::byte> memory(65536);
  const auto region = [&](DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION description,
                          DAT_VA_TYPE va_type) {
    DAT_LMR_HANDLE handle = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT context{};
    DAT_RMR_CONTEXT remote{};
    DAT_VLEN size{};
    DAT_VADDR address{};
    const DAT_RETURN got =
        CALL(dat_lmr_create, ia().get(), type, description, memory.size(), pz.get(),
             DAT_MEM_PRIV_ALL_FLAG, va_type, &handle, &context, &remote, &size, &address);
    if (got == DAT_SUCCESS) (void)dat_lmr_free(handle);
    return got;
  };
  DAT_REGION_DESCRIPTION description{};
  description.for_va = memory.data();
  stated("zero-based regions", region(DAT_MEM_TYPE_VIRTUAL, description, DAT_VA_TYPE_ZB),
         ia().attributes().zb_supported != DAT_FALSE);
  const DAT_VLEN most = ia().attributes().max_lmr_block_size;
  stated("regions of 65536 octets", region(DAT_MEM_TYPE_VIRTUAL, description, DAT_VA_TYPE_VA),
         most == 0 || most >= memory.size());
  const Lmr whole(ia(), pz.get(), 64);
  description.for_lmr_handle = whole.get();
  stated("regions of regions", region(DAT_MEM_TYPE_LMR, description, DAT_VA_TYPE_VA),
         (static_cast<unsigned>(attr.lmr_mem_types_supported) & DAT_MEM_TYPE_LMR) != 0);
  std::array<char, DAT_LMR_COOKIE_SIZE> cookie{};
  description.for_shared_memory.virtual_address = memory.data();
  description.for_shared_memory.shared_memory_id = reinterpret_cast<DAT_LMR_COOKIE>(cookie.data());
  stated("shared memory", region(DAT_MEM_TYPE_SHARED_VIRTUAL, description, DAT_VA_TYPE_VA),
         (static_cast<unsigned>(attr.lmr_mem_types_supported) & DAT_MEM_TYPE_SHARED_VIRTUAL) != 0);
}

DAT_CASE(named_attributes_are_as_many_as_counted, calls(dat_ia_query),
         rules("dat.ia-query.named-attributes")) {
  DAT_IA_ATTR attr{};
  DAT_PROVIDER_ATTR provider{};
  expect(CALL(dat_ia_query, ia().get(), nullptr, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL,
              &provider),
         succeeds);
  expect_names(*this, "transport", attr.num_transport_attr, attr.transport_attr);
  expect_names(*this, "vendor", attr.num_vendor_attr, attr.vendor_attr);
  expect_names(*this, "provider", provider.num_provider_specific_attr,
               provider.provider_specific_attr);
}

DAT_CASE(query_with_an_empty_mask_needs_no_output, calls(dat_ia_query),
         rules("dat.ia-query.nothing-asked")) {
  expect(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, 0, nullptr), succeeds);
}

DAT_CASE(query_of_attributes_that_do_not_exist_is_refused, calls(dat_ia_query),
         rules("dat.ia-query.invalid-parameter")) {
  DAT_IA_ATTR attr{};
  DAT_PROVIDER_ATTR provider{};
  row("of the IA", [&] {
    expect(query_ia(ia().get(), DAT_UINT64{1} << 50, attr), returns(DAT_INVALID_PARAMETER));
  });
  row("of the provider", [&] {
    expect(query_provider(ia().get(), DAT_UINT64{1} << 50, provider),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_ia_query),
         rules("dat.ia-query.invalid-parameter"), with_hostile_handles) {
  row("for the IA's", [&] {
    expect(CALL(dat_ia_query, ia().get(), nullptr, DAT_IA_FIELD_ALL, nullptr, 0, nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
  row("for the provider's", [&] {
    expect(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(query_with_an_invalid_ia_is_refused, calls(dat_ia_query),
         rules("dat.ia-query.invalid-handle")) {
  DAT_IA_ATTR attr{};
  expect_refusal_of_no_ia(
      *this, [&](DAT_IA_HANDLE handle) { return query_ia(handle, DAT_IA_FIELD_ALL, attr); });
}

DAT_CASE(several_threads_query_at_once, calls(dat_ia_query), rules("dat.ia-query.success")) {
  std::array<DAT_IA_ATTR, 4> all{};
  std::array<DAT_RETURN, 4> got{};
  const DAT_IA_HANDLE handle = ia().get();
  at_once(4, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    got[at] = query_ia(handle, DAT_IA_FIELD_ALL, all[at]);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    expect(got[i], succeeds);
    same(*this, "max_eps", all[i].max_eps, ia().attributes().max_eps);
  }
}

DAT_CASES_OF_FILE(ia_query)

}  // namespace suite::cases::dat
