// With Knative's authentication of senders on, and knative/oidc: our sources and triggers still get
// through, and nobody else does, neither past the broker nor to a function itself.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withOverlay } from '../../../knative/try/cluster/functions/overlay.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
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

let dir: string;
let world: KnativeWorld;
let feed: ShownFeed;

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
  await world.rig.apply(features);
  const kubectl = await Kubectl.at(world.kubeconfigPath, dir);
  const apply = async (overlay: string): Promise<void> => {
    // The webhooks hear of the feature a moment later.
    await eventually(() => kubectl.run('apply', '-k', overlay));
  };
  await withOverlay(MANIFESTS, apply, ['oidc']);
  feed = await ShownFeed.open(world.rig);
}, OPEN_WITHIN_MS);

afterAll(async () => {
  await feed?.close();
  await world?.close();
  await rm(dir, { recursive: true, force: true });
});

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
