// What a scenario's traffic went through: the promise is held, and the figures are written down for
// whoever runs the tests.
import { expect } from 'vitest';
import type { TrafficReport } from './traffic.ts';

export function reported(scenario: string, report: TrafficReport): void {
  process.stdout.write(`${scenario}: ${JSON.stringify(report)}\n`);
  expect({ lost: report.lost, unseen: report.unseen }).toEqual({ lost: 0, unseen: 0 });
}
