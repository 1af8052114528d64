// Checks that a scenario's traffic lost nothing, and prints its figures.
import { expect } from 'vitest';
import type { TrafficReport } from './traffic.ts';

export function reported(scenario: string, report: TrafficReport): void {
  process.stdout.write(`${scenario}: ${JSON.stringify(report)}\n`);
  expect({ lost: report.lost, unseen: report.unseen }).toEqual({ lost: 0, unseen: 0 });
}
