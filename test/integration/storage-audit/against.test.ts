// Every verdict on an upgrade of the corpus, as etcd, a snapshot and the API server give it, and
// then the upgrade itself, applied to a real API server.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { AgainstAnswer } from '../../../functions/storage-audit/against/against.ts';
import { KubeWorld } from '../../../functions/storage-audit/against/kube-world.ts';
import { againstPageOf } from '../../../functions/storage-audit/against/page.ts';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { startScratch } from '../../../knative/try/local/scratch.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { type Upgrade, UPGRADES } from '../../builders/upgrade-corpus.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { crdName, releaseOf, UpgradeWorld } from './upgrade-world.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;
const SCHEMA = new URL('../../../docs/storage-audit.schema.json', import.meta.url);
const validate = new Ajv({ strict: true, allErrors: true }).compile<AgainstAnswer>(
  JSON.parse(readFileSync(SCHEMA, 'utf8')),
);

let plane: PlaneAddress;
let kube: KubeClient;
let world: UpgradeWorld;
let dir: string;
let snapshot: string;
let rendering: string;
let live: Asked;

interface Asked {
  readonly code: number;
  readonly answer: AgainstAnswer;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'against-test-'));
  snapshot = join(dir, 'before.db');
  plane = sharedPlane();
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  world = new UpgradeWorld(kube);
  await Promise.all(UPGRADES.map((upgrade) => world.live(upgrade)));
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'operator' } };
  const documents = [service, ...UPGRADES.map((upgrade) => releaseOf(upgrade)), service];
  rendering = documents.map((one) => `# Source: chart\n${stringify(one)}`).join('---\n');
  const etcd = plane.part('etcd').url;
  live = await ask('--etcd', etcd, '--save', snapshot, '--scratch', kubeconfigPath);
}, 60_000);

afterAll(async () => {
  await kube?.close();
  await rm(dir, { recursive: true, force: true });
});

/** Without `--scratch` it starts a server of its own. */
async function command(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const code = await runAudit(['--against', '-', ...args], {
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    isWatched: false,
    stdin: Readable.from([rendering]),
    startScratch,
  });
  return { code, ...said };
}

async function ask(...args: readonly string[]): Promise<Asked> {
  const { code, out, err } = await command(...args, '--json');
  expect(err).toBe('');
  const answer: unknown = JSON.parse(out);
  const isValid = validate(answer);
  expect(validate.errors ?? []).toEqual([]);
  if (!isValid) throw new Error('not as the schema says');
  return { code, answer };
}

const answerOn = ({ crds }: AgainstAnswer, name: string) => {
  const found = crds.find((crd) => crd.name === name);
  return [found?.verdict, found?.reasons.map(({ what }) => what).toSorted()];
};

test('a snapshot, tried on a server that is started for it, gives the same answer', async () => {
  const { code, answer } = await ask(snapshot);
  expect([code, live.code]).toEqual([1, 1]);
  expect(answer.crds).toEqual(live.answer.crds);
  expect(answer.triedOn).toMatch(/^v1[.]/);
}, 60_000);

test('the API server alone knows all but what is stored', async () => {
  const { kubeconfigPath } = plane;
  const { answer } = await ask(
    '--kube',
    '--kubeconfig',
    kubeconfigPath,
    '--scratch',
    kubeconfigPath,
  );
  const verdicts = Object.fromEntries(answer.crds.map(({ name, verdict }) => [name, verdict]));
  const expected = UPGRADES.map((upgrade): [string, string] => [
    crdName(upgrade),
    upgrade.verdictOfKube ?? upgrade.verdict,
  ]);
  expect(verdicts).toEqual(Object.fromEntries(expected));
});

test('of what is tried on a scratch server that was named nothing stays', async () => {
  const { items } = await kube.list(CRDS);
  const tried = items.filter(({ metadata: { name } }) => /[.](before|after|update)-/.test(name));
  // The API server takes up to minutes for the rest of it.
  expect(tried.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
});

test('the page names the object, the sentence of the API server, and the commands', () => {
  const page = againstPageOf(live.answer);
  expect(page).toContain('\nprobes.monitoring.example.io (2 objects): unsafe, because of objects');
  expect(page).toContain(
    '    default/bad: Probe.monitoring.example.io "bad" is invalid: spec: Invalid value: min above',
  );
  expect(page).toContain(
    '    $ npm run -s migrate -- certificates.certs.example.io | kubectl apply -f -\n',
  );
  expect(page).toContain(
    '\nThe upgrade may not be applied:\n- backups.backups.example.io: The scope',
  );
});

test('a webhook is there when an endpoint of its Service is ready', async () => {
  const asked = new KubeWorld(plane.kubeconfigPath, undefined);
  const service = { namespace: 'default', name: 'hook' };
  const metadata = { ...service, labels: { 'kubernetes.io/service-name': 'hook' } };
  const slice = (ready: boolean) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready } }],
  });
  try {
    expect(await asked.webhook(service)).toEqual({ lacks: 'is not there' });
    const spec = { ports: [{ port: 443 }] };
    const manifest = { apiVersion: 'v1', kind: 'Service', metadata: service, spec };
    await kube.create(SERVICES, manifest);
    await kube.create(SLICES, slice(false));
    expect(await asked.webhook(service)).toEqual({ lacks: 'has no endpoint that is ready' });
    await kube.apply(SLICES, slice(true), { force: true });
    expect(await asked.webhook(service)).toEqual({ lacks: undefined });
  } finally {
    await asked.close();
  }
});

describe('applied', () => {
  const seen = new Map<string, string>();

  beforeAll(async () => {
    // Last, since nothing is afterwards what it was before.
    const look = async (one: Upgrade) => void seen.set(one.title, await world.verdictSeen(one));
    await Promise.all(UPGRADES.map(look));
  }, 60_000);

  test.each(UPGRADES)('$title: $verdict', (upgrade) => {
    const { verdict, whats, title } = upgrade;
    expect(answerOn(live.answer, crdName(upgrade))).toEqual([verdict, whats]);
    expect(seen.get(title)).toBe(verdict);
  });
});
