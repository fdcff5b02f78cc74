// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The DAT 2.0 headers in the one order in which they compile, and the calls that libdat2 leaves to
// the provider's table.
#pragma once

#include <dat2/udat.h>
// After udat.h, which defines for which kind of consumer it is.
#include <dat2/dat_registry.h>
#include <dat2/udat_redirection.h>

extern "C" DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE ia, DAT_IA_HANDLE* other);
