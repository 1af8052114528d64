// To whom the password of the system account is told, and how: listeners on the addresses of pods
// that keep what they hear, in every state of turning TLS on and off.
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { withSystem } from '../../../functions/nats-cluster/connect.ts';
import { Deps } from '../../../functions/nats-cluster/deps.ts';
import type { Parts } from '../../../functions/nats-cluster/state.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import { openSystem } from '../../../shared/nats/system.ts';
import { makeAuthority } from '../../../shared/x509.ts';
import { startRecordingListener } from '../../builders/recording-listener.ts';
import { KubeModel } from './model/kube-model.ts';
import { state } from './samples.ts';

const HOUR_MS = 3_600_000;
const validity = { fromMs: Date.now() - HOUR_MS, toMs: Date.now() + HOUR_MS };
const { certPem: trustedCa } = makeAuthority('ours', validity);
const TLS: Partial<NatsClusterSpec> = { tls: { clients: {} } };
const ON = { saysTls: true, trustedCa };
const SERVERS = ['nats-0', 'nats-1', 'nats-2'] as const;

interface Case {
  readonly spec?: Partial<NatsClusterSpec>;
  readonly parts?: Partial<Parts>;
  readonly hasSeenTls?: boolean;
  /** Greets with TLS and a certificate for the right name, by an authority of his own. */
  readonly isStranger?: boolean;
}

/** Those who heard the password, asked as long as nobody is known to be right. */
async function toldTo({ spec = {}, parts = {}, hasSeenTls, isStranger }: Case): Promise<string[]> {
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const hostOf = (server: string): string => `${network}.${SERVERS.indexOf(server as never) + 1}`;
  const name = isStranger === true ? { certificateFor: 'nats.shop.svc' } : {};
  const listeners = await Promise.all(
    SERVERS.map((server) => startRecordingListener({ host: hostOf(server), ...name })),
  );
  await using stack = new AsyncDisposableStack();
  for (const one of listeners) stack.use(one);
  const deps = new Deps({
    kube: new KubeModel().client,
    openSystem,
    clock: systemClock,
    workMs: 1,
    lease: { namespace: 'n', name: 'unused', sweepSeconds: 60 },
  });
  // Unsettled: what was said last is of an earlier generation.
  const status = { observedGeneration: 0 };
  const { cluster, pods, ...seen } = state({ spec, parts, status });
  if (hasSeenTls !== undefined) deps.memoryOf(cluster.uid).hasSeenTls = hasSeenTls;
  // Each by itself: of several the first that lets us in would be enough.
  for (const pod of pods) {
    const asked = { ...seen, cluster, pods: [{ ...pod, ip: hostOf(pod.name) }] };
    const signal = AbortSignal.timeout(5_000);
    await withSystem(deps, asked, signal, async () => undefined).catch(() => undefined);
  }
  return SERVERS.filter((_, index) => listeners[index]?.heard().includes('"pass":"system"'));
}

const old = { beforeTls: ['pod-nats-0'] };

test.each<[string, Case, readonly string[]]>([
  ['no TLS anywhere', {}, SERVERS],
  ['TLS wanted, and no server told of it yet', { spec: TLS, parts: { trustedCa } }, SERVERS],
  ['TLS told', { spec: TLS, parts: ON }, []],
  ['TLS told, by a stranger with a certificate', { spec: TLS, parts: ON, isStranger: true }, []],
  ['TLS told, one runs from before', { spec: TLS, parts: { ...ON, ...old } }, ['nats-0']],
  [
    'the same, and one was seen with TLS',
    { spec: TLS, parts: { ...ON, ...old }, hasSeenTls: true },
    [],
  ],
  ['TLS to be off, and still told', { parts: ON }, []],
  ['TLS off', { parts: { saysTls: false, trustedCa } }, SERVERS],
  [
    'TLS wanted, what was told is lost',
    { spec: TLS, parts: { saysTls: undefined, trustedCa } },
    [],
  ],
  ['TLS wanted, and all is lost', { spec: TLS, parts: { saysTls: undefined, trustedCa: '' } }, []],
])('%s: the password is told in plain to nobody else', async (_, given, told) => {
  expect(await toldTo(given)).toEqual(told);
});
