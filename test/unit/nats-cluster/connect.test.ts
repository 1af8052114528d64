// To whom the password of the system account is told, and how: listeners on the addresses of pods
// that keep what they hear, in every state of turning TLS on and off.
import { randomInt } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { withSystem } from '../../../functions/nats-cluster/connect.ts';
import { Deps } from '../../../functions/nats-cluster/deps.ts';
import type { Parts } from '../../../functions/nats-cluster/state.ts';
import { systemClock } from '../../../shared/clock.ts';
import { Failure } from '../../../shared/errors.ts';
import type { NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import { openSystem } from '../../../shared/nats/system.ts';
import { type Identity, issue, makeAuthority } from '../../../shared/x509.ts';
import { startRecordingListener } from '../../builders/recording-listener.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { state } from './samples.ts';

const HOUR_MS = 3_600_000;
const validity = { fromMs: Date.now() - HOUR_MS, toMs: Date.now() + HOUR_MS };
const ours = makeAuthority('ours', validity);
const { certPem: trustedCa } = ours;
const TLS: Partial<NatsClusterSpec> = { tls: { clients: {} } };
const ON = { saysTls: true, trustedCa };
const LOST = { saysTls: undefined, trustedCa };
const SERVERS = ['nats-0', 'nats-1', 'nats-2'] as const;

interface Case {
  readonly spec?: Partial<NatsClusterSpec>;
  readonly parts?: Partial<Parts>;
  readonly hasSeenTls?: boolean;
  /** All servers have reported what the spec says now. */
  readonly isSettled?: boolean;
  /**
   * Servers that greet with TLS, and the authority that signed each one's certificate, which has
   * the right name.
   */
  readonly tls?: Readonly<Record<string, Identity>>;
}

const certificateBy = (authority: Identity): Identity =>
  issue(authority, { commonName: 'nats', hosts: ['nats.shop.svc'] }, validity);

const depsWith = (open: typeof openSystem): Deps =>
  new Deps({
    kube: new KubeModel().client,
    openSystem: open,
    clock: systemClock,
    workMs: 1,
    lease: { namespace: 'n', name: 'unused', sweepSeconds: 60 },
  });

/** Those who heard the password after some looks, each at these servers. */
async function toldTo(
  { spec = {}, parts = {}, hasSeenTls, isSettled = false, tls = {} }: Case,
  tries: readonly (readonly string[])[],
): Promise<string[]> {
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const hostOf = (server: string): string => `${network}.${SERVERS.indexOf(server as never) + 1}`;
  const listeners = await Promise.all(
    SERVERS.map((server) => {
      const { [server]: by } = tls;
      const identity = by && certificateBy(by);
      return startRecordingListener({ host: hostOf(server), identity });
    }),
  );
  await using stack = new AsyncDisposableStack();
  for (const one of listeners) stack.use(one);
  const deps = depsWith(openSystem);
  const upToDate = SERVERS.map((name) => ({ name, ready: true, upToDate: true }));
  // Unsettled: what was said last is of an earlier generation.
  const status = isSettled
    ? { observedGeneration: 1, servers: upToDate }
    : { observedGeneration: 0 };
  const { cluster, pods: bare, ...seen } = state({ spec, parts, status });
  if (hasSeenTls !== undefined) deps.memoryOf(cluster.uid).hasSeenTls = hasSeenTls;
  for (const names of tries) {
    const found = bare.filter(({ name }) => names.includes(name));
    const pods = found.map((pod) => ({ ...pod, ip: hostOf(pod.name) }));
    const signal = AbortSignal.timeout(5_000);
    const work = withSystem(deps, { ...seen, cluster, pods }, signal, async () => undefined);
    await work.catch(() => undefined);
  }
  return SERVERS.filter((_, index) => listeners[index]?.heard().includes('"pass":"system"'));
}

/** The first of several that lets us in is enough. */
const EACH = SERVERS.map((server) => [server]);
const old = { beforeTls: ['pod-nats-0'] };
const all = (authority: Identity) =>
  Object.fromEntries(SERVERS.map((server) => [server, authority]));
const stranger = makeAuthority('a stranger', validity);

test.each<[string, Case, readonly string[]]>([
  ['no TLS anywhere', {}, SERVERS],
  ['TLS wanted, and no server told of it yet', { spec: TLS, parts: { trustedCa } }, SERVERS],
  ['TLS told', { spec: TLS, parts: ON }, []],
  ['TLS told, by a stranger with a certificate', { spec: TLS, parts: ON, tls: all(stranger) }, []],
  ['TLS told, one runs from before', { spec: TLS, parts: { ...ON, ...old } }, ['nats-0']],
  [
    'the same, and one was seen with TLS',
    { spec: TLS, parts: { ...ON, ...old }, hasSeenTls: true },
    [],
  ],
  ['TLS to be off, and still told', { parts: ON }, []],
  ['TLS off', { parts: { saysTls: false, trustedCa } }, SERVERS],
  [
    'TLS off for long, with the authority of then',
    { parts: { saysTls: false, trustedCa }, isSettled: true },
    SERVERS,
  ],
  [
    'TLS wanted, what was told is lost',
    { spec: TLS, parts: { saysTls: undefined, trustedCa } },
    [],
  ],
  ['TLS wanted, and all is lost', { spec: TLS, parts: { saysTls: undefined, trustedCa: '' } }, []],
])('%s: the password is told in plain to nobody else', async (_, given, told) => {
  expect(await toldTo(given, EACH)).toEqual(told);
});

const speaks = { tls: { 'nats-2': ours } };
const some = { beforeTls: ['pod-nats-0', 'pod-nats-1'] };

test.each<[string, Case]>([
  ['two may be from before', { spec: TLS, parts: { ...ON, ...some }, ...speaks }],
  ['TLS is to be off, and is still told', { parts: { ...ON, ...some }, ...speaks }],
  ['TLS is wanted, and what was told is lost', { spec: TLS, parts: LOST, ...speaks }],
  [
    'the same, and all was well when they were seen last',
    { spec: TLS, parts: LOST, isSettled: true, ...speaks },
  ],
])('one speaks TLS, %s: he is asked first, and nobody hears it in plain', async (_, given) => {
  expect(await toldTo(given, [SERVERS])).toEqual(['nats-2']);
});

test('once one was reached with TLS, those from before hear nothing in plain', async () => {
  const given = { spec: TLS, parts: { ...ON, ...some }, ...speaks };
  expect(await toldTo(given, [['nats-0'], ['nats-2'], ['nats-1']])).toEqual(['nats-0', 'nats-2']);
});

test.each<[string, Case]>([
  ['what was told is lost', { spec: TLS, parts: { saysTls: undefined, trustedCa: '' } }],
  ['TLS was told', { spec: TLS, parts: { saysTls: true, trustedCa: '' } }],
  ['TLS is told no more', { parts: { saysTls: true, trustedCa: '' } }],
])('no authority known, %s: one that the machine trusts hears nothing', async (_, given) => {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, stranger.certPem]);
  try {
    expect(await toldTo({ ...given, tls: all(stranger) }, EACH)).toEqual([]);
  } finally {
    setDefaultCACertificates(before);
  }
});

test('without TLS the reason why servers let nobody in is theirs, not that of TLS', async () => {
  const refused = new Failure('NATS_REFUSED', 'They take none of the passwords.', {});
  const deps = depsWith(() => Promise.reject(refused));
  const one = state({ status: { observedGeneration: 0 } });
  const { signal } = new AbortController();
  await expect(withSystem(deps, one, signal, async () => undefined)).rejects.toBe(refused);
});
