// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "pmu.h"
#include "sample.h"
#include "session.h"

/*
 * A counter may overflow in NMI, where the ledger's lock must not be taken: keep the registers
 * and take the sample in an interrupt right behind it.
 */
struct pmu_cpu {
	struct perf_event *event;
	struct irq_work work;
	struct pt_regs regs;
};

struct cozk_pmu {
	struct pmu_cpu __percpu *cpu;
};

static void take_sample(struct irq_work *work)
{
	cozk_sample_event(&container_of(work, struct pmu_cpu, work)->regs);
}

static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	struct pmu_cpu *c = event->overflow_handler_context;

	if (irq_work_is_busy(&c->work))
		return;
	c->regs = *regs;
	irq_work_queue(&c->work);
}

static void free_pmu(struct cozk_pmu *pmu)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pmu_cpu *c = per_cpu_ptr(pmu->cpu, cpu);

		if (c->event)
			perf_event_release_kernel(c->event);
		irq_work_sync(&c->work);
	}
	free_percpu(pmu->cpu);
	kfree(pmu);
}

static int create_events(struct cozk_pmu *pmu, struct perf_event_attr *attr)
{
	int cpu, err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct pmu_cpu *c = per_cpu_ptr(pmu->cpu, cpu);
		struct perf_event *event;

		event = perf_event_create_kernel_counter(attr, cpu, NULL, on_overflow, c);
		if (IS_ERR(event)) {
			err = PTR_ERR(event);
			break;
		}
		c->event = event;
	}
	cpus_read_unlock();
	return err;
}

int cozk_pmu_start(struct cozk_session *s, struct perf_event_attr *attr)
{
	struct cozk_pmu *pmu;
	int cpu, err;

	if (s->pmu)
		return -EBUSY;
	pmu = kzalloc(sizeof(*pmu), GFP_KERNEL);
	if (!pmu)
		return -ENOMEM;
	pmu->cpu = alloc_percpu(struct pmu_cpu);
	if (!pmu->cpu) {
		kfree(pmu);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(pmu->cpu, cpu)->work = IRQ_WORK_INIT_HARD(take_sample);
	err = create_events(pmu, attr);
	if (err) {
		free_pmu(pmu);
		return err;
	}
	WRITE_ONCE(s->pmu, pmu);
	return 0;
}

void cozk_pmu_stop(struct cozk_session *s)
{
	struct cozk_pmu *pmu = s->pmu;

	if (!pmu)
		return;
	WRITE_ONCE(s->pmu, NULL);
	free_pmu(pmu);
}
