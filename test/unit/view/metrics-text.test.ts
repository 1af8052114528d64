// Reads what prom-client writes, whatever stands in a label.
import fc from 'fast-check';
import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { readSeries } from '../../../knative/try/local/view/metrics-text.ts';

const PAGE = `# HELP events_total Events.
# TYPE events_total counter
events_total{type="add",outcome="done"} 12
events_total{type="a}b \\"c\\" \\\\ d\\ne",outcome="retry"} 3
events_total_other{type="add"} 99
plain 4.5
`;

test('the series of one counter are read with their labels', () => {
  expect(readSeries(PAGE, 'events_total')).toEqual([
    { labels: { type: 'add', outcome: 'done' }, value: 12 },
    { labels: { type: 'a}b "c" \\ d\ne', outcome: 'retry' }, value: 3 },
  ]);
});

test('a series without labels is read', () => {
  expect(readSeries(PAGE, 'plain')).toEqual([{ labels: {}, value: 4.5 }]);
});

test('a counter that is not on the page has no series', () => {
  expect(readSeries(PAGE, 'events')).toEqual([]);
});

test('what prom-client writes is read back, whatever a label holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.nat(), async (type, value) => {
      const registers = [new Registry()];
      const counter = new Counter({ name: 'n', help: 'h', labelNames: ['type'], registers });
      counter.inc({ type }, value);
      const page = (await registers[0]?.metrics()) ?? '';
      expect(readSeries(page, 'n')).toEqual([{ labels: { type }, value }]);
    }),
  );
});
