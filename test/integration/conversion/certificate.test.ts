// The certificate of two replicas over the years, on the real API server: whatever either of them
// shows at any moment is believed by every definition at that moment.
import { X509Certificate } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Keeper, OVERLAP_MS, secretOf, type Shown } from '../../../functions/conversion/keeper.ts';
import { webhookOf } from '../../../knative/try/local/timeline/steps.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { certificatesIn, endsAtMs } from '../../../shared/stateful/certificates/secret-data.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { openKube, type KubeClient } from '../../../shared/kube/client.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { ConversionRig, NAMESPACE } from './rig.ts';

const START_MS = 120_000;
const DAY_MS = 86_400_000;
const served = { namespace: NAMESPACE, service: 'conversion' };
const { signal } = new AbortController();
let nowMs = systemClock.nowMs();
const clock: Clock = { ...systemClock, nowMs: () => nowMs };
const pass = (ms: number): void => {
  nowMs += ms;
};
let rig: ConversionRig;
let kube: KubeClient;

class Replica {
  readonly #keeper: Keeper;
  shown: Shown | undefined;

  constructor() {
    const log = pino({ level: 'silent' });
    const show = (shown: Shown): void => {
      this.shown = shown;
    };
    this.#keeper = new Keeper({ kube, clock, log, served, show });
  }

  /** True when there was nothing to do; whatever is shown is believed after each look. */
  async look(): Promise<boolean> {
    const isDone = await this.#keeper.look(signal);
    await expectBelieved();
    return isDone;
  }

  async settle(): Promise<string> {
    while (!(await this.look()));
    return this.shown?.certificate ?? '';
  }
}

let one: Replica;
let other: Replica;

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  await rig.goAway();
  const { kubeconfigPath } = rig.plane;
  const name = 'ballast-conversion';
  kube = openKube({ kubeconfigPath, userAgent: name, fieldManager: name });
  one = new Replica();
  other = new Replica();
}, START_MS);

afterAll(async () => {
  await kube?.close();
  await rig?.stop();
});

async function bundles(): Promise<readonly (readonly string[])[]> {
  const definitions = await rig.definitions();
  return definitions.map((each) =>
    certificatesIn(Buffer.from(String(webhookOf(each)['caBundle']), 'base64').toString()),
  );
}

async function expectBelieved(): Promise<void> {
  const all = await bundles();
  expect(all).toHaveLength(9);
  for (const { shown } of [one, other]) {
    if (shown === undefined || endsAtMs(shown.certificate) <= nowMs) continue;
    const certificate = new X509Certificate(shown.certificate);
    for (const bundle of all) {
      expect(bundle.some((each) => isIssuedBy(certificate, new X509Certificate(each)))).toBe(true);
    }
  }
}

const isIssuedBy = (certificate: X509Certificate, authority: X509Certificate): boolean =>
  certificate.checkIssued(authority) && certificate.verify(authority.publicKey);

test('both show the one of the Secret, for the name of the Service', async () => {
  const certificate = await one.settle();
  expect(await other.settle()).toBe(certificate);
  expect(new X509Certificate(certificate).checkHost('conversion.ballast-system.svc')).toBeDefined();
  expect(new Set((await bundles()).map((each) => each.length))).toEqual(new Set([1]));
});

test('it is renewed a month before its end, by whoever looks first', async () => {
  const before = await one.settle();
  pass(61 * DAY_MS);
  const after = await other.settle();
  expect(after).not.toBe(before);
  expect(one.shown?.certificate).toBe(before);
  expect(await one.settle()).toBe(after);
});

const sizes = async (): Promise<readonly number[]> => [
  ...new Set((await bundles()).map((each) => each.length)),
];

test('the next authority is believed long before it signs, the former to its end', async () => {
  const former = (await bundles())[0]?.[0] ?? '';
  const isFormer = (): boolean =>
    isIssuedBy(new X509Certificate(one.shown?.certificate ?? ''), new X509Certificate(former));
  // Nobody looked for years: the certificates are over, and the authority is not.
  pass(8.8 * 365 * DAY_MS);
  await one.settle();
  await other.settle();
  expect(await sizes()).toEqual([1]);
  let overlaps = 0;
  for (let steps = 0; isFormer(); steps += 1) {
    expect(steps).toBeLessThan(20);
    pass(59 * DAY_MS);
    await one.settle();
    if ((await sizes())[0] === 2) overlaps += 1;
    await other.settle();
  }
  expect(overlaps).toBeGreaterThan(2);
  pass(180 * DAY_MS);
  await one.settle();
  await other.settle();
  expect((await bundles())[0]).not.toContain(former);
});

test('an emptied Secret is filled anew, and both authorities hold for a while', async () => {
  await one.settle();
  await other.settle();
  const before = one.shown?.certificate;
  pass(2 * OVERLAP_MS);
  await one.settle();
  await other.settle();
  const former = (await bundles())[0] ?? [];
  const emptied = { type: 'json', body: [{ op: 'remove', path: '/data' }] } as const;
  await kube.patch(SECRETS, secretOf(served), emptied, {});
  // It fills the Secret, then writes the bundle, and only then shows what others believe by now.
  expect(await one.look()).toBe(false);
  expect(await one.look()).toBe(false);
  expect(one.shown?.certificate).toBe(before);
  const after = await one.settle();
  expect(after).not.toBe(before);
  // The other one has not looked yet, and shows the former one.
  expect(other.shown?.certificate).toBe(before);
  for (const each of former) expect((await bundles())[0]).toContain(each);
  expect(await other.settle()).toBe(after);
  pass(OVERLAP_MS + 1_000);
  await one.settle();
  await other.settle();
  for (const bundle of await bundles()) {
    expect(bundle).toHaveLength(1);
    for (const each of former) expect(bundle).not.toContain(each);
  }
});

test('without its Secret nothing is made, and what is shown stays', async () => {
  const { shown } = one;
  const because = 'the test is the only one here';
  await kube.delete(SECRETS, secretOf(served), { precondition: 'none', because }, {});
  await expect(one.look()).rejects.toThrow(
    'There is no Secret ballast-system/conversion-certificate; apply the manifests',
  );
  expect(one.shown).toBe(shown);
});
