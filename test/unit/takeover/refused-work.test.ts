// Reasons against a plan that would do harm only once it is carried out.
import { beforeEach, expect, test } from 'vitest';
import { begin, putPod, putTakeover, refusal, refusals } from './world.ts';

beforeEach(() => {
  begin();
});

test.each([
  { httpGet: { path: '/health', port: 2379 } },
  { exec: { command: ['/bin/sh', '-ec', 'ETCDCTL_API=3 etcdctl endpoint health'] } },
])('the kubelet would end a pod with an alarm: %j', async (probe) => {
  putPod('old-b', 'old-b', true, probe);
  expect(await refusal()).toMatch(/^ProbeEndsPods: The liveness probe of old-b asks for/);
});

test('the policy of the new one would let nobody in', async () => {
  putTakeover({ into: { name: 'new', spec: { quota: '2Gi', networkPolicy: 'Closed' } } });
  expect(await refusals()).toEqual(['PolicyClosed']);
});
