# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# The suite from its Debian packages: made in one image, installed in another that has neither sources nor compiler.
#   docker build --tag rnic-suite .
#   docker run --rm --privileged --volume "$PWD/out:/out" rnic-suite run --out /out/first
# Without --privileged a container has no network namespaces; the reference RNIC on the loopback interface needs none.
# tools/package_test.sh carries out these steps where there is no docker; it knows FROM, WORKDIR, COPY, RUN.
ARG DEBIAN=bookworm

FROM debian:${DEBIAN}-slim AS packages
WORKDIR /src
COPY tools/install_packages.sh tools/install_packages.sh
RUN tools/install_packages.sh deb
COPY . .
RUN tools/build.sh release rnic_installed
RUN cpack --config build/release/CPackConfig.cmake -B /packages

FROM debian:${DEBIAN}-slim AS suite
COPY --from=packages /packages/*.deb /packages/
RUN apt-get update && \
    apt-get install -y --no-install-recommends $(ls /packages/*.deb | grep -vE -e '-(doc|dev|wireshark-plugin)_') && \
    rm -rf /packages /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["rnic-suite"]
CMD ["--help"]
