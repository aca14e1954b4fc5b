/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_STUDENT_H
#define COZK_STUDENT_H

/*
 * Student's t distribution with @df > 0 degrees of freedom (infinite: the normal distribution).
 * Pure.
 */

/* P(|T| > |t|); NaN if an argument is. */
double cozk_student_two_sided(double t, double df);

/* The t > 0 with P(|T| > t) = @p, 0 < @p < 1. */
double cozk_student_critical(double p, double df);

#endif
