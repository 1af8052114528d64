// The password by which the servers are asked, when somebody deletes its Secret or edits it:
// servers keep what they have until they are told otherwise, and only who knows it can tell them.
import { expect, test } from 'vitest';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { Run } from './model/run.ts';
import { NAMESPACE } from './model/cluster-model.ts';

const SYSTEM = { namespace: NAMESPACE, name: 'nats-system' };
/** Longer than what was read of the parts is remembered. */
const LATER_MS = 310_000;
/** More than any of these takes. */
const SWEEPS = 12;

async function atRest(): Promise<Run> {
  const run = new Run();
  await run.converge();
  return run;
}

async function goOn(run: Run): Promise<void> {
  for (let sweeps = 0; sweeps < SWEEPS; sweeps += 1) {
    run.model.nowMs += LATER_MS;
    await run.sweep();
    run.model.tick();
  }
}

function systemOf({ model }: Run): Readonly<Record<string, string>> {
  const data = model.kube.objects.get(`secrets/${NAMESPACE}/nats-system`)?.['data'] ?? {};
  const decoded = Object.entries(data).map(([key, text]) => [
    key,
    Buffer.from(String(text), 'base64').toString(),
  ]);
  return Object.fromEntries(decoded);
}

const setPassword = ({ model }: Run, password: string): void => {
  const data = { password: Buffer.from(password).toString('base64') };
  model.kube.change(SECRETS, SYSTEM, { data });
};

const passwordsOf = ({ model }: Run): readonly string[] =>
  [...model.servers.values()].map(({ password }) => password);

test('a system Secret that somebody deleted comes back as the servers know it', async () => {
  const run = await atRest();
  const before = systemOf(run);
  run.model.kube.remove(SECRETS, SYSTEM);
  const writes = run.writes.length;
  await goOn(run);
  expect(systemOf(run)).toEqual(before);
  expect(run.isReady()).toBe(true);
  expect(run.writes.slice(writes)).toEqual([
    'create secrets nats-system',
    'patch poddisruptionbudgets nats',
  ]);
});

test('a system password that somebody changed comes to the servers', async () => {
  const run = await atRest();
  setPassword(run, 'another');
  const left = await run.deathsIn(() => goOn(run));
  expect(left.length).toBeGreaterThan(4);
  for (const one of left) await goOn(one);
  for (const [at, one] of [run, ...left].entries()) {
    expect([at, ...passwordsOf(one)]).toEqual([at, 'another', 'another', 'another']);
    expect(one.isReady()).toBe(true);
    expect(Object.keys(systemOf(one))).toEqual(['username', 'password', 'route-password']);
  }
});

test('a changed system password is no warning, and is called refused by nobody', async () => {
  const run = await atRest();
  setPassword(run, 'another');
  await goOn(run);
  expect(passwordsOf(run)).toEqual(['another', 'another', 'another']);
  expect(run.warnings).toEqual([]);
});

test('one that is changed again before they have it does, too', async () => {
  for (let sweepsBefore = 0; sweepsBefore < 5; sweepsBefore += 1) {
    const run = await atRest();
    // They are out of reach meanwhile: a reload comes to nothing.
    const fileOf = run.model.fileOf.bind(run.model);
    run.model.fileOf = (server) => run.model.servers.get(server) ?? fileOf(server);
    setPassword(run, 'another');
    for (let sweeps = 0; sweeps < sweepsBefore; sweeps += 1) {
      run.model.nowMs += LATER_MS;
      await run.sweep();
    }
    run.model.fileOf = fileOf;
    setPassword(run, 'the third');
    await goOn(run);
    expect(passwordsOf(run)).toEqual(['the third', 'the third', 'the third']);
    expect(run.isReady()).toBe(true);
  }
});

/** The Secrets that a person deletes, all at once. */
const remove = ({ model }: Run, ...suffixes: readonly string[]): void => {
  for (const suffix of suffixes) {
    model.kube.remove(SECRETS, { namespace: NAMESPACE, name: `nats${suffix}` });
  }
};
const secretOf = ({ model }: Run, suffix: string): string =>
  JSON.stringify(model.kube.objects.get(`secrets/${NAMESPACE}/nats${suffix}`)?.['data']);

test.each([
  [['-user']],
  [['-system']],
  [['-config']],
  [['-user', '-system']],
  // The instance's memory of the configuration is enough.
  [['-system', '-config']],
  [['-user', '-system', '-config']],
])('Secrets %j that are deleted are back after one sweep, with what they had', async (gone) => {
  const run = await atRest();
  const all = () => ['-user', '-system', '-config'].map((suffix) => secretOf(run, suffix));
  const before = all();
  remove(run, ...gone);
  await run.sweep();
  expect(all()).toEqual(before);
  expect(run.isReady()).toBe(true);
  expect(run.warnings).toEqual([]);
});

test('a user whose Secret is gone keeps the password, also when nobody remembers it', async () => {
  const run = await atRest();
  const before = secretOf(run, '-user');
  remove(run, '-user', '-system');
  run.forget();
  await run.sweep();
  expect(secretOf(run, '-user')).toBe(before);
  expect(run.isReady()).toBe(true);
});

test('passwords that nobody can tell any more are no deadlock without a word', async () => {
  const run = await atRest();
  remove(run, '-user', '-system', '-config');
  run.forget();
  await goOn(run);
  expect(run.isReady()).toBe(false);
  const { status, reason, message } = run.condition('Degraded');
  expect([status, reason]).toEqual(['True', 'PasswordRefused']);
  expect(message).toContain(
    'for pod in nats-0 nats-1 nats-2; do kubectl -n shop exec $pod -c nats',
  );
  expect(message).toContain('nats-server --signal reload=/var/run/nats/nats.pid');
  expect(run.warnings).toEqual(['PasswordLost', 'PasswordLost', 'PasswordRefused']);
  expect(run.writes.filter((one) => one.startsWith('delete'))).toEqual([]);
  // The person restarts the servers with the new file.
  for (const [name, server] of run.model.servers) Object.assign(server, run.model.fileOf(name));
  await run.converge();
  expect(run.condition('Degraded').status).toBe('False');
});
