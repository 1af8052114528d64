// Every verdict on an upgrade of the corpus, as etcd, a snapshot and the API server give it, and
// then the upgrade itself, applied to a real API server.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { AgainstAnswer } from '../../../functions/storage-audit/against/against.ts';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { startScratch } from '../../../knative/try/local/scratch.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { UPGRADES } from '../../builders/upgrade-corpus.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { crdName, releaseOf, UpgradeWorld } from './upgrade-world.ts';

const SCHEMA = new URL('../../../docs/storage-audit.schema.json', import.meta.url);

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
  readonly page: string;
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
  live = await ask('--etcd', plane.part('etcd').url, '--save', snapshot);
  console.log(JSON.stringify(live.answer,null,1));
}, 60_000);

afterAll(async () => {
  await kube?.close();
  await rm(dir, { recursive: true, force: true });
});

/** The plane is the scratch server as well, but where the audit starts one of its own. */
async function ask(...source: readonly string[]): Promise<Asked> {
  const said = { out: '', err: '' };
  const run = async (...more: readonly string[]): Promise<number> => {
    said.out = '';
    const terminal = {
      out: (text: string) => void (said.out += text),
      err: (text: string) => void (said.err += text),
      isWatched: false,
      stdin: (async function* () {
        yield rendering;
      })(),
      startScratch,
    };
    return runAudit(['--against', '-', ...source, ...more], terminal);
  };
  const scratch = source.includes('--own') ? [] : ['--scratch', plane.kubeconfigPath];
  const code = await run(...scratch, '--json');
  expect(said.err).toBe('');
  const answer = JSON.parse(said.out) as AgainstAnswer;
  return { code, answer, page: '' };
}

const answerOn = ({ crds }: AgainstAnswer, name: string) => {
  const found = crds.find((crd) => crd.name === name);
  return [found?.verdict, found?.reasons.map(({ what }) => what).toSorted()];
};

test.each(UPGRADES)('$title: $verdict', async (upgrade) => {
  const { verdict, whats } = upgrade;
  expect(answerOn(live.answer, crdName(upgrade))).toEqual([verdict, whats]);
  expect(await world.verdictSeen(upgrade)).toBe(verdict);
});
