// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#define BOOST_TEST_MODULE dat
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

/// libdat2 reads dat.conf at the first DAT call and never again.
struct PrivateDatConf {
  PrivateDatConf() {
    std::ofstream conf(path);
    for (const char* safety : {"nonthreadsafe", "threadsafe"})
      conf << "rnic0 u2.0 " << safety
           << " default " RNIC_DAT_LIBRARY " rnic.1 \"lo 127.0.0.1\" \"\"\n";
    conf << "rnic1 u2.0 nonthreadsafe default " RNIC_DAT_LIBRARY " rnic.1 \"lo\" \"\"\n";
    conf << "bad0 u2.0 nonthreadsafe default " RNIC_DAT_LIBRARY " rnic.1 \"\" \"\"\n";
    conf.close();
    setenv("DAT_OVERRIDE", path.c_str(), 1);
  }
  ~PrivateDatConf() { unlink(path.c_str()); }
  std::string path = "/tmp/rnic-dat-test." + std::to_string(getpid()) + ".conf";
};
BOOST_TEST_GLOBAL_FIXTURE(PrivateDatConf);
