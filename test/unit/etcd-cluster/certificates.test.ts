// Certificates of members that run: another authority comes to all of them before anybody shows a
// certificate of it, and what would cut members off from each other is refused with a reason.
import { beforeAll, describe, expect, test } from 'vitest';
import { dataOf, type SecretData } from '../../../shared/stateful/certificates/secret-data.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { type Identity, issue, makeAuthority } from '../../../shared/x509.ts';
import { keepDown, letStart, loseVolume } from './model/faults.ts';
import { NAME, NAMESPACE } from './model/etcd-model.ts';
import { Run } from './model/run.ts';

const DAY_MS = 86_400_000;
const USES = ['clients', 'peers'] as const;
type Use = (typeof USES)[number];
const HOSTS = {
  clients: [`${NAME}.${NAMESPACE}.svc`, `*.${NAME}-headless.${NAMESPACE}.svc`],
  peers: [`${NAME}-0-0.${NAME}-headless.${NAMESPACE}.svc`],
} as const;

const MUTUAL = { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } } as const;

let whole: Run;

beforeAll(async () => {
  whole = new Run();
  whole.edit({ tls: MUTUAL });
  await whole.converge();
});

const at = (name: string) => ({ namespace: NAMESPACE, name });

function secret({ model }: Run, name: string): SecretData {
  const found = model.kube.objects.get(`secrets/${NAMESPACE}/${name}`);
  if (found === undefined) throw new Error(`there is no Secret ${name}`);
  return dataOf(found);
}

function give({ model }: Run, { certPem, keyPem }: Identity, ca: string): void {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const data = {
    'tls.crt': encode(certPem),
    'tls.key': encode(keyPem),
    'ca.crt': encode(ca),
  };
  model.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: at('mine'), data });
}

function authorityOf({ model }: Run) {
  const validity = { fromMs: model.nowMs - 3_600_000, toMs: model.nowMs + DAY_MS };
  const authority = makeAuthority('mine', validity);
  const sign = (use: Use) => issue(authority, { hosts: HOSTS[use] }, validity);
  return { ca: authority.certPem, sign };
}

/** The certificate that members show, and the authorities that they trust. */
function shown(run: Run, use: Use): { readonly crt: string; readonly key: string; ca: string } {
  const data = secret(run, 'etcd-tls');
  const [crt = '', key = '', ca = ''] = ['.crt', '.key', '-ca.crt'].map(
    (end) => data[`${use}${end}`],
  );
  return { crt, key, ca };
}

const restarts = (run: Run, from: number): number =>
  run.writes.slice(from).filter((one) => one.startsWith('delete pods')).length;

const reasonOf = (run: Run): string => run.condition('Degraded').reason;

describe.each(USES)('of %s', (use) => {
  test('without its Secret the members keep what they have, and it is told', async () => {
    const run = whole.copy();
    const before = shown(run, use);
    const from = run.writes.length;
    run.edit({ tls: { [use]: { secretName: 'mine' } } });
    await run.idle(3);
    expect(reasonOf(run)).toBe('CertificateUnfit');
    expect(run.condition('Ready')).toMatchObject({ status: 'False', reason: 'CertificateUnfit' });
    expect(run.condition('Quorate').status).toBe('True');
    expect(shown(run, use)).toEqual(before);
    expect(secret(run, 'etcd-client')).toEqual(secret(whole, 'etcd-client'));
    expect(restarts(run, from)).toBe(0);
  });

  test('without its Secret members come, and lost ones are replaced', async () => {
    const run = whole.copy();
    run.edit({ replicas: 5, tls: { [use]: { secretName: 'mine' } } });
    await run.idle();
    expect(run.model.voters).toHaveLength(5);
    loseVolume(run.model, 'etcd-1');
    const ids = [...run.model.members.keys()];
    await run.idle();
    expect([...run.model.members.keys()].filter((id) => !ids.includes(id))).toHaveLength(1);
    expect(run.model.voters).toHaveLength(5);
    expect(reasonOf(run)).toBe('CertificateUnfit');
  });

  test('no member is born without it', async () => {
    const run = new Run();
    run.edit({ tls: MUTUAL });
    run.edit({ tls: { [use]: { secretName: 'mine' } } });
    await run.idle(3);
    expect(reasonOf(run)).toBe('CertificateUnfit');
    expect(run.model.objects('etcdpeers')).toEqual([]);
  });

  test('one of theirs that is spoiled later holds up nobody', async () => {
    const run = whole.copy();
    const { crt, key, ca } = shown(run, use);
    const theirs = { certPem: crt, keyPem: key };
    give(run, theirs, ca);
    run.edit({ tls: { [use]: { secretName: 'mine' } } });
    await run.converge();
    give(run, theirs, '');
    run.model.nowMs += 300_000;
    run.edit({ replicas: 5 });
    await run.idle();
    expect(run.model.voters).toHaveLength(5);
    expect(reasonOf(run)).toBe('CertificateUnfit');
  });

  test('one that the members do not trust yet is refused, with the order that works', async () => {
    const run = whole.copy();
    const before = shown(run, use);
    const own = authorityOf(run);
    const signed = own.sign(use);
    give(run, signed, own.ca);
    const from = run.writes.length;
    run.edit({ tls: { [use]: { secretName: 'mine' } } });
    await run.idle(3);
    expect(reasonOf(run)).toBe('CertificateUntrusted');
    expect(run.condition('Degraded').message).toContain('with both authorities in its ca.crt');
    expect(shown(run, use)).toEqual(before);
    expect(restarts(run, from)).toBe(0);
    give(run, { certPem: before.crt, keyPem: before.key }, `${before.ca}${own.ca}`);
    await run.converge();
    expect(restarts(run, from)).toBe(3);
    give(run, signed, `${before.ca}${own.ca}`);
    // No event tells that a Secret of the user's was edited.
    run.model.nowMs += 300_000;
    await run.idle(3);
    expect(run.isReady()).toBe(true);
    expect(shown(run, use).crt).toBe(signed.certPem);
    expect(restarts(run, from)).toBe(3);
  });
});

test.each(USES)('one of %s that not every member has been started to trust waits', async (use) => {
  const run = whole.copy();
  const { crt, key, ca } = shown(run, use);
  const own = authorityOf(run);
  keepDown(run.model, 'etcd-2');
  give(run, { certPem: crt, keyPem: key }, `${ca}${own.ca}`);
  run.edit({ tls: { [use]: { secretName: 'mine' } } });
  await run.idle(5);
  expect(shown(run, use).ca).toContain(own.ca);
  give(run, own.sign(use), `${ca}${own.ca}`);
  run.model.nowMs += 300_000;
  await run.idle(3);
  expect(reasonOf(run)).toBe('CertificateUntrusted');
  expect(shown(run, use).crt).toBe(crt);
});

test('without any Secret that has the authority it is told, and made anew in a sleep', async () => {
  const start = whole.copy();
  for (const name of ['etcd-clients-ca', 'etcd-peers-ca', 'etcd-tls', 'etcd-client']) {
    start.model.kube.remove(SECRETS, at(name));
  }
  const run = start.copy();
  const from = run.writes.length;
  await run.idle(3);
  expect(reasonOf(run)).toBe('AuthorityGone');
  expect(run.condition('Degraded').message).toContain('Set spec.replicas to 0');
  expect(run.writes.slice(from).filter((one) => one.includes(' secrets '))).toEqual([]);
  run.edit({ replicas: 0 });
  await run.idle();
  run.edit({ replicas: 3 });
  await run.converge();
  expect(shown(run, 'peers').crt).not.toBe(shown(whole, 'peers').crt);
});

test('the next authority signs when every member trusts it, however late that is', async () => {
  const start = whole.copy();
  start.model.kube.remove(SECRETS, at('etcd-peers-ca'));
  keepDown(start.model, 'etcd-2');
  const run = start.copy();
  const before = shown(run, 'peers');
  await run.idle(5);
  const bundle = shown(run, 'peers').ca;
  expect(bundle).toContain(before.ca);
  expect(bundle.length).toBeGreaterThan(before.ca.length);
  run.model.nowMs += 85 * DAY_MS;
  await run.idle(5);
  expect(shown(run, 'peers').crt).toBe(before.crt);
  letStart(run.model, 'etcd-2');
  await run.converge();
  await run.idle(3);
  expect(shown(run, 'peers').crt).not.toBe(before.crt);
});
