// With Knative's authentication of senders on, knative/oidc and knative/callers: our sources and
// triggers still get through, and nobody else does, neither past the broker nor to a function
// itself. A person with a token sees the page of console in a browser.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { PAUSE_IMAGE } from '../../../knative/try/cluster/images.ts';
import { withOverlay } from '../../../knative/try/cluster/functions/overlay.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { Browser } from '../../browser/browser.ts';
import { Kubectl } from '../support/kubectl.ts';
import { binaryEvent, eventually } from './support/rig.ts';
import { OURS, ShownFeed } from './support/shown-feed.ts';
import { type KnativeWorld, NAMESPACES, openWorld, OPEN_WITHIN_MS } from './support/world.ts';

const NAMESPACE = NAMESPACES.strangers;
const AUDIENCE = `${OURS}/metadata`;
/** The account that Knative makes for it. */
const TRIGGER = 'metadata-changes-oidc-eventing.knative.dev-trigger';
const MANIFESTS = resolve(import.meta.dirname, '../../../knative');
/** Names the account of the token to an adapter. */
const ADAPTER_ACCOUNT = 'K_OIDC_SERVICE_ACCOUNT';
const UPDATE = 'dev.knative.apiserver.resource.update';
const API_SERVER_SOURCES = {
  group: 'sources.knative.dev',
  version: 'v1',
  resource: 'apiserversources',
} as const;

/** All but `metadata` and `console`, which tests here send to, and `locate`, which never sleeps. */
const OTHERS =
  'dead-letters|etcd-(backup|cluster|peer|restore)|nats-cluster|storage-(audit|migration)|takeover';
/**
 * All is rolled out anew, as in any installation that begins to ask for tokens. No pod is started
 * for what nobody here asks: neither by the rollout, nor by a cron, nor for a source.
 */
const QUIET = [
  {
    target: { group: 'serving.knative.dev', kind: 'Service', name: OTHERS },
    patch: stringify([
      {
        op: 'add',
        path: '/spec/template/metadata/annotations/autoscaling.knative.dev~1initial-scale',
        value: '0',
      },
    ]),
  },
  {
    target: { kind: 'PingSource', name: `(${OTHERS})-.*` },
    patch: stringify([{ op: 'replace', path: '/spec/schedule', value: '0 0 1 1 *' }]),
  },
  {
    target: { kind: 'ApiServerSource', name: OTHERS },
    patch: stringify({
      apiVersion: 'sources.knative.dev/v1',
      kind: 'ApiServerSource',
      metadata: { name: 'any' },
      $patch: 'delete',
    }),
  },
];

let dir: string;
let world: KnativeWorld;
let feed: ShownFeed;
let browser: Browser | undefined;

const configMap = (name: string, namespace: string, data: object): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
});

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-senders-'));
  world = await openWorld(NAMESPACE);
  const features = configMap('config-features', 'knative-eventing', {
    'authentication-oidc': 'enabled',
  });
  await endOtherSources();
  await world.rig.apply(features);
  await untilPoliciesAreTaken();
  const kubectl = await Kubectl.at(world.kubeconfigPath, dir);
  const apply = async (overlay: string): Promise<void> => {
    await kubectl.run('apply', '-k', overlay);
  };
  await withOverlay(MANIFESTS, apply, {
    components: ['oidc', 'callers'],
    settings: [`CALLER_SUBJECTS=system:serviceaccount:${NAMESPACE}:default`],
    patches: QUIET,
  });
  feed = await ShownFeed.open(world.rig);
}, OPEN_WITHIN_MS);

afterAll(async () => {
  await browser?.close();
  await feed?.close();
  await world?.close();
  await rm(dir, { recursive: true, force: true });
});

async function endOtherSources(): Promise<void> {
  const { kube } = world.rig;
  const { items } = await kube.list(API_SERVER_SOURCES, { namespace: OURS });
  const others = items.filter(({ metadata }) => metadata.name !== 'metadata');
  for (const { metadata } of others) {
    await kube.delete(API_SERVER_SOURCES, metadata, { uid: metadata.uid });
  }
}

/** The webhooks hear of the feature a moment later, and refuse policies until then. */
async function untilPoliciesAreTaken(): Promise<void> {
  const ref = { group: 'eventing.knative.dev', version: 'v1alpha1', resource: 'eventpolicies' };
  const policy = {
    apiVersion: 'eventing.knative.dev/v1alpha1',
    kind: 'EventPolicy',
    metadata: { namespace: OURS, name: 'tried' },
    spec: {},
  };
  await eventually(() => world.rig.kube.create(ref, policy, { dryRun: true }));
}

const event = (token?: string): Record<string, string> => ({
  ...binaryEvent(UPDATE, 'of-a-stranger'),
  'ce-ballastfunction': 'metadata',
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
});

describe('a function', () => {
  test('refuses a sender without a token', async () => {
    const status = async (): Promise<unknown> =>
      (await world.rig.callFunction('metadata', event(), '{}')).statusCode;
    await eventually(async () => expect(await status()).toBe(401));
  });

  test.each([
    [401, 'for somebody else', OURS, TRIGGER, 'another'],
    [403, 'of another namespace', NAMESPACE, 'default', AUDIENCE],
    [403, 'of another account beside it', OURS, 'locate', AUDIENCE],
    // Let in, and then told that the event does not carry its object.
    [422, 'of its own Trigger', OURS, TRIGGER, AUDIENCE],
  ])('answers %i to a token %s', async (status, _whose, namespace, account, audience) => {
    const token = await eventually(() => world.rig.token(namespace, account, audience));
    const answer = await world.rig.callFunction('metadata', event(token), '{}');
    expect(answer).toMatchObject({ statusCode: status });
  });
});

describe('the broker', () => {
  test('takes nothing from a sender without a token', async () => {
    const status = async (): Promise<unknown> =>
      (await world.rig.send(`${OURS}/ballast`, event(), '{}')).statusCode;
    await eventually(async () => expect(await status()).toBe(401));
  });

  test('takes nothing from an account that no policy names', async () => {
    const { rig } = world;
    const ref = { group: 'eventing.knative.dev', version: 'v1', resource: 'brokers' };
    const found = await eventually(async () => {
      const broker = await rig.kube.get(ref, { namespace: OURS, name: 'ballast' });
      const { audience } = Object(Object(broker?.['status']).address);
      if (typeof audience === 'string') return audience;
      throw new Error('the broker has no audience yet');
    });
    const token = await rig.token(NAMESPACE, 'default', found);
    const answer = await rig.send(`${OURS}/ballast`, event(token), '{}');
    expect(answer).toMatchObject({ statusCode: 403 });
  });
});

/** Knative replaces the adapter of our source by one that shows tokens; the old one is refused. */
async function tokenIsShown(): Promise<void> {
  const adapters = await world.rig.pods('eventing.knative.dev/sourceName=metadata', OURS);
  const ready = adapters.map(({ spec, status }) => {
    const [{ env = [] }] = Object(spec).containers;
    const hasAccount = env.some(({ name }: Manifest['metadata']) => name === ADAPTER_ACCOUNT);
    return hasAccount && Object(status).phase === 'Running';
  });
  expect(ready).toEqual([true]);
}

test('our own sources and triggers get through: changes are shown before a sweep', async () => {
  await eventually(tokenIsShown);
  let round = 0;
  await eventually(async () => {
    round += 1;
    const sweptAt = await feed.sweptAt();
    for (const name of ['one', 'two', 'three', 'four'].map((one) => `${one}-${round}`)) {
      await world.rig.apply({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: NAMESPACE, name },
        spec: { ports: [{ port: 80 }] },
      });
      await eventually(async () => expect(feed.shows('services', NAMESPACE, name)).toBe(true));
    }
    // One after the other, so a sweep that ended later had a part in one of them at most.
    expect(await feed.sweptAt()).toBe(sweptAt);
  });
  expect(await feed.differences()).toEqual([]);
});

test('the page takes a token of a caller that is named, and shows the cluster', async () => {
  const host = `console.${OURS}.svc.cluster.local`;
  browser = await Browser.open({ [host]: world.rig.inside });
  const page = browser;
  await eventually(() => page.show(`http://${host}/console#where`));
  const shows = (selector: string, text: RegExp): Promise<void> =>
    eventually(async () => expect(await page.text(selector)).toMatch(text));
  const submit = async (account: string): Promise<void> => {
    const token = await world.rig.token(NAMESPACE, account, `${OURS}/console`);
    const form = "document.querySelector('#token')";
    await page.run(`${form}.elements[0].value = ${JSON.stringify(token)}; ${form}.requestSubmit()`);
  };
  await shows('#token', /A token of an account/);
  await world.rig.apply({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: NAMESPACE, name: 'nosy' },
  });
  await submit('nosy');
  await shows('#link', /nosy/);
  await submit('default');
  await shows('#count', /^[1-9]\d* of \d+ pods$/);
  // Its two questions are asked anew on their own, each after its pause.
  await shows('#link', /^$/);
  await shows('#verdict', /wrong/);
  // Live: what comes now is there without another question of the person.
  await page.press('/');
  await page.type(`ns:${NAMESPACE}`);
  await world.rig.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: NAMESPACE, name: 'newcomer' },
    spec: { containers: [{ name: 'pause', image: PAUSE_IMAGE }] },
  });
  await shows('#lines', /newcomer/);
});
