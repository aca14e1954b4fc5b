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

$(B)/tests/test_%: tests/unit/test_%.c $(UNIT_LIBRARY)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(SANITIZE) $(WARN) $(CPPFLAGS_COZK) -Iuserspace -Imodule -o $@ $< $(UNIT_LIBRARY) \
		$(LIBS_COZK) -lcmocka

unit: $(UNIT_TESTS)

-include $(UNIT_OBJECTS:.o=.d)

.PHONY: unit
