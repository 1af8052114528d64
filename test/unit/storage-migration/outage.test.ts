// When failures are the server's and when the objects' own, as a table.
import { expect, test } from 'vitest';
import { OutageWatch } from '../../../functions/storage-migration/outage.ts';
import type { Rewritten } from '../../../functions/storage-migration/rewrite.ts';
import { KubeError } from '../../../shared/kube/errors.ts';

const cause = new KubeError('KUBE_UNAVAILABLE', 'It fails.', { verb: 'patch', path: '/' });
const failed = { name: 'w', reason: 'InternalError', message: 'It fails.' };
const OUTCOMES: Readonly<Record<string, Rewritten>> = {
  // The server failed, the object was refused, it was written.
  s: { outcome: 'failed', failed, cause },
  o: { outcome: 'failed', failed },
  w: { outcome: 'changed' },
};

test.each<[string, string, boolean, string, number]>([
  ['all well', 'wwwwwww', true, 'nothing', 0],
  ['refused one by one', 'ooooooo', true, 'nothing', 0],
  ['some failures between', 'wssssws', false, 'nothing', 1],
  ['a failure at the end, in an outage', 'wwwws', true, 'told', 1],
  ['a failure that others did not have', 'wwwws', false, 'nothing', 1],
  ['five in a row, in an outage', 'wsssss', true, 'told', 1],
  ['many in a row that are bad themselves', 'sssssssss', false, 'nothing', 2],
])('%s', async (_what, outcomes, isOutage, told, expectedQuestions) => {
  let questions = 0;
  const watch = new OutageWatch(async () => {
    questions += 1;
    return isOutage;
  });
  const run = async (): Promise<string> => {
    for (const one of outcomes) await watch.note(OUTCOMES[one] ?? { outcome: 'gone' });
    await watch.ended();
    return 'nothing';
  };
  expect(await run().catch((error: unknown) => (error === cause ? 'told' : error))).toBe(told);
  expect(questions).toBe(expectedQuestions);
});
