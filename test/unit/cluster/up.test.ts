// The words of `npm run cluster` while it comes up: whoever waits for the first builds can work
// with the API server already.
import { expect, test } from 'vitest';
import type { Stage } from '../../../knative/try/cluster/stage.ts';
import type { Cluster } from '../../../knative/try/cluster/start-cluster.ts';
import { holdUp } from '../../../knative/try/cluster/up.ts';

const KUBECONFIG = '/run/cluster/kubeconfig';

const cluster = {
  kubeconfigPath: KUBECONFIG,
  addresses: { subnet: '10.99.0.0/16' },
  ended: new Promise<string>(() => undefined),
  stop: async () => undefined,
} as unknown as Cluster;

/** Everything that was said when the stages began, and at the end. */
async function said(stagesOf: (begun: () => void) => readonly Stage[]) {
  const lines: string[] = [];
  const end = new AbortController();
  let early = '';
  const begun = (): void => void (early = lines.join('\n'));
  const print = (text: string): void => {
    lines.push(text);
    if (text.includes('Everything is ready')) end.abort();
  };
  const options = { nodes: 1, subnet: '10.99.0.0/16', stages: stagesOf(begun), print };
  const code = await holdUp(options, async () => cluster, end.signal);
  return { code, early, whole: lines.join('\n') };
}

test('before a first build it says that the API server is up, and how to reach it', async () => {
  const { code, early, whole } = await said((begun) => [
    { name: 'images', run: async () => begun() },
  ]);
  expect(early).toMatch(/The API server is up after [\d.]+ s\. .*is not there is built now\./);
  expect(early).toContain(`export KUBECONFIG=${KUBECONFIG}`);
  expect(early).not.toContain('Everything is ready');
  expect([code, whole]).toEqual([0, expect.stringContaining('Nothing is left of it.')]);
});

test('with nothing to build it is said once, when everything is ready', async () => {
  const { whole } = await said(() => []);
  expect(whole).not.toContain('The API server is up');
  expect(whole.match(/export KUBECONFIG=/g)).toHaveLength(1);
});
