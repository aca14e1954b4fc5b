# SPDX-License-Identifier: GPL-2.0-or-later
# Tests and the programs they run. All under build/tests and build/workloads.

# ---- unit tests: the sources themselves, with sanitizers
SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_LIBRARY := $(B)/obj/sanitized/libcozk.a
UNIT_SOURCES := $(filter-out userspace/main.c userspace/cmd_%.c,$(SOURCES)) module/vtime.c module/target.c
UNIT_OBJECTS := $(UNIT_SOURCES:%.c=$(B)/obj/sanitized/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(filter-out tests/unit/test_coz% ,$(wildcard tests/unit/test_*.c)))

$(B)/obj/sanitized/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(SANITIZE) $(WARN) $(CPPFLAGS_COZK) -MMD -MP -c -o $@ $<

$(UNIT_LIBRARY): $(UNIT_OBJECTS)
	@rm -f $@
	ar rcs $@ $^

$(UNIT_TESTS): $(B)/tests/test_%: tests/unit/test_%.c $(UNIT_LIBRARY)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(SANITIZE) $(WARN) $(CPPFLAGS_COZK) -Iuserspace -Imodule -o $@ $< $(UNIT_LIBRARY) \
		$(LIBS_COZK) -lcmocka

unit: $(UNIT_TESTS) $(B)/tests/test_coz_lite $(B)/tests/test_cozk_header

-include $(UNIT_OBJECTS:.o=.d)

.PHONY: unit

# ---- unit tests of libcoz-lite, and the cost of a visit
$(B)/tests/test_coz_lite: tests/unit/test_coz_lite.c tests/unit/fake_client.c libcoz-lite/coz_lite.c libcoz-lite/cozk.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(SANITIZE) $(WARN) -DCOZK_TEST -Iinclude -Ilibcoz-lite -o $@ $(filter %.c,$^) -lcmocka -pthread

$(B)/tests/test_cozk_header: tests/unit/test_cozk_header.c libcoz-lite/cozk.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(SANITIZE) $(WARN) -Ilibcoz-lite -o $@ $< -lcmocka -pthread

$(B)/tests/visit: tests/bench/visit.c tests/unit/fake_client.c libcoz-lite/coz_lite.c libcoz-lite/cozk.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(WARN) -DCOZK_TEST -Iinclude -Ilibcoz-lite -o $@ $(filter %.c,$^) -pthread

test-programs: $(B)/tests/visit
	tests/uapi/build.sh

# ---- workloads
W := tests/workloads
WFLAGS := -std=gnu11 -O2 -g -fno-omit-frame-pointer $(WARN) -Ilibcoz-lite
WDEPS := $(wildcard $(W)/*.h) libcoz-lite/cozk.h
TRUTH := g1 g2 g2b g4 g7 g9 multi
SMALL := short nopoint neverpoint signals threads dlopenprog
# Coz's own header, from Debian's coz-profiler; without it coztoy and coztoy7 are not built.
COZ_INCLUDE ?= /usr/include

workloads: $(TRUTH:%=$(B)/workloads/%) $(SMALL:%=$(B)/workloads/%) \
	$(B)/workloads/g10 $(B)/workloads/g15 $(B)/workloads/plugin.so \
	$(if $(wildcard $(COZ_INCLUDE)/coz.h),$(B)/workloads/coztoy $(B)/workloads/coztoy7) \
	$(B)/workloads/coz-g1 $(B)/workloads/coz-g7 $(B)/workloads/coz-signals

$(TRUTH:%=$(B)/workloads/%): $(B)/workloads/%: $(W)/%.c $(W)/common.c $(W)/queue.c $(WDEPS)
	@mkdir -p $(@D)
	$(CC) $(WFLAGS) -o $@ $(filter %.c,$^) -pthread

$(SMALL:%=$(B)/workloads/%): $(B)/workloads/%: $(W)/%.c $(WDEPS)
	@mkdir -p $(@D)
	$(CC) $(WFLAGS) -o $@ $< -pthread

$(B)/workloads/g15: $(W)/g1.c $(W)/common.c $(WDEPS)
	@mkdir -p $(@D)
	$(CC) $(WFLAGS) -DWORKLOAD_NAME='"G15"' -o $@ $(filter %.c,$^) -pthread

$(B)/workloads/g10: $(W)/g10.c $(W)/common.c $(WDEPS) $(B)/lib/libcoz-lite.a
	@mkdir -p $(@D)
	$(CC) $(WFLAGS) -static -DCOZK_LINKED -o $@ $(filter %.c,$^) -pthread $(B)/lib/libcoz-lite.a

$(B)/workloads/plugin.so: $(W)/plugin.c $(WDEPS)
	@mkdir -p $(@D)
	$(CC) $(WFLAGS) -fPIC -shared -o $@ $<

$(B)/workloads/coztoy: $(W)/g1.c $(W)/common.c $(WDEPS)
	$(CC) $(WFLAGS) -I$(COZ_INCLUDE) -DWORKLOAD_COZ_H -DWORKLOAD_NAME='"coztoy"' -o $@ $(filter %.c,$^) -pthread

$(B)/workloads/coztoy7: $(W)/g7.c $(W)/common.c $(WDEPS)
	$(CC) $(WFLAGS) -I$(COZ_INCLUDE) -DWORKLOAD_COZ_H -o $@ $(filter %.c,$^) -pthread

# For Debian's Coz, which reads DWARF 3 at most: the same binary runs under both profilers.
$(B)/workloads/coz-signals: $(W)/signals.c $(WDEPS)
	@mkdir -p $(@D)
	$(CC) $(WFLAGS) -gdwarf-3 -o $@ $(filter %.c,$^) -pthread

$(B)/workloads/coz-%: $(W)/%.c $(W)/common.c $(WDEPS)
	@mkdir -p $(@D)
	$(CC) $(WFLAGS) -gdwarf-3 -o $@ $(filter %.c,$^) -pthread

.PHONY: workloads test-programs
