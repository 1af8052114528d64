// P11: what a process that refers to fifty ConfigMaps pays when 200 ConfigMaps and 200 Secrets of
// 500 KB appear beside them: with the narrow cache, and with informers on both kinds. Bytes are
// those that the kernel handed to the process; memory is what is resident.
import { readFile } from 'node:fs/promises';
import { GO_GC_AS_SHIPPED, type Plane, startPlane } from '../../knative/try/local/plane/plane.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { residentBytes } from './cpu.ts';
import { Child } from './feed/child.ts';
import { buildGoInformers, GoInformers } from './narrow/go-informers.ts';
import type { HolderQuestion, Opened } from './narrow/holder.ts';
import type { Bench, Figure, Sample } from './runner.ts';

const OURS = 'narrow cache';
const PEER = 'client-node 2.0.1 informers';
const GO_PEER = 'controller-runtime 0.25.2';
const LIVE = 'GET by the same client';
const ALLOWED = 'allowed';
const HELD = 50;
const STRANGERS_OF_A_KIND = 200;
const STRANGER_BYTES = 500_000;
const WRITERS = 8;
const GROWTH_MAX_MB = 4;
const CALLS_MAX = 2;

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const secrets = { group: '', version: 'v1', resource: 'secrets' };
const namespace = 'default';
const names = Array.from({ length: HELD }, (_, index) => `held-${index}`);

/** Memory and bytes are differences about zero on our side; what is resident tells a quiet run. */
const lower = { ours: OURS, better: 'lower', control: 'resident' } as const;

export const bench: Bench = {
  id: 'P11',
  title: `${HELD} objects held while ${2 * STRANGERS_OF_A_KIND} others of 500 KB appear`,
  pairs: 5,
  figures: [
    { name: 'growth', unit: 'MB', against: PEER, limit: 0.02, ...lower },
    {
      name: 'growth against controller-runtime',
      sample: 'growth',
      unit: 'MB',
      against: GO_PEER,
      limit: 0.02,
      ...lower,
    },
    { name: 'growth allowed', sample: 'growth', unit: 'MB', against: ALLOWED, limit: 1, ...lower },
    { name: 'received', unit: 'KB', against: PEER, limit: 0.001, ...lower },
    {
      name: 'received against controller-runtime',
      sample: 'received',
      unit: 'KB',
      against: GO_PEER,
      limit: 0.001,
      ...lower,
    },
    { name: 'get', unit: 'µs', against: LIVE, limit: 0.01, ...lower },
    { name: 'calls', unit: 'per object', against: ALLOWED, limit: 1, ...lower },
  ] satisfies readonly Figure[],
  open: async () => {
    const binary = await buildGoInformers();
    const plane = await startPlane({ parts: ['etcd', 'kube-apiserver'], ...GO_GC_AS_SHIPPED });
    const { kubeconfigPath } = plane;
    const kube = openKube({ userAgent: 'bench', fieldManager: 'bench', kubeconfigPath });
    for (const name of names) await writeHeld(kube, name, '0');
    const everything = HELD + 2 * STRANGERS_OF_A_KIND;
    let opened: Opened = { callsPerObject: Number.NaN, cachedGetUs: 0, liveGetUs: Number.NaN };
    const runOurs = async (): Promise<Sample> => {
      const holder = await startHolder('narrow', kubeconfigPath);
      opened = holder.opened;
      const storm = await measure(plane, kube, holder, HELD);
      return { ...storm, get: opened.cachedGetUs, calls: opened.callsPerObject };
    };
    const runPeer = async (holder: Holder): Promise<Sample> =>
      measure(plane, kube, holder, everything);
    return {
      sides: [
        { name: OURS, run: runOurs },
        { name: PEER, run: async () => runPeer(await startHolder('informers', kubeconfigPath)) },
        {
          name: GO_PEER,
          run: async () => runPeer(await GoInformers.start(binary, kubeconfigPath)),
        },
        { name: LIVE, beside: OURS, run: async () => ({ get: opened.liveGetUs }) },
        {
          name: ALLOWED,
          beside: OURS,
          run: async () => ({ growth: GROWTH_MAX_MB, calls: CALLS_MAX }),
        },
      ],
      close: async () => {
        await kube.close();
        await plane.stop();
      },
    };
  },
};

interface Holder {
  readonly pid: number;
  until(name: string, turn: string, objects: number): Promise<void>;
  end(): Promise<void>;
}

async function startHolder(
  side: 'narrow' | 'informers',
  kubeconfigPath: string,
): Promise<Holder & { readonly opened: Opened }> {
  const script = '../narrow/holder.ts';
  const child = await Child.start<HolderQuestion, Opened>(script, side, kubeconfigPath);
  const opened = await child.ask({ open: names });
  return {
    pid: child.pid,
    opened,
    until: async (name, turn, objects) => {
      await child.ask({ until: { name, turn, objects } });
    },
    end: () => child.end(),
  };
}

let turns = 0;

/** `objectsMax`: how many the side holds in the end. */
async function measure(
  plane: Plane,
  kube: KubeClient,
  holder: Holder,
  objectsMax: number,
): Promise<Sample> {
  const seen = async (objects: number): Promise<void> => {
    const turn = String((turns += 1));
    const [name = ''] = names;
    await writeHeld(kube, name, turn);
    await holder.until(name, turn, objects);
  };
  try {
    await seen(HELD);
    const residentBefore = await residentBytes(holder.pid);
    const readBefore = await bytesRead(holder.pid);
    await writeStrangers(kube);
    await seen(objectsMax);
    const resident = await residentBytes(holder.pid);
    return {
      resident: resident / 1e6,
      growth: (resident - residentBefore) / 1e6,
      received: ((await bytesRead(holder.pid)) - readBefore) / 1e3,
    };
  } finally {
    await holder.end();
    await forgetStrangers(plane, kube);
  }
}

async function writeHeld(kube: KubeClient, name: string, turn: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } };
  await kube.apply(configMaps, { ...object, data: { turn } }, { force: true });
}

async function writeStrangers(kube: KubeClient): Promise<void> {
  const value = 'x'.repeat(STRANGER_BYTES);
  const left = Array.from({ length: STRANGERS_OF_A_KIND }, (_, index) => `stranger-${index}`);
  const writer = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const metadata = { name, namespace, labels: { bench: 'stranger' } };
      const data = { value };
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: data };
      await Promise.all([kube.create(configMaps, map), kube.create(secrets, secret)]);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

/** Else etcd would be full after some runs. */
async function forgetStrangers(plane: Plane, kube: KubeClient): Promise<void> {
  const query = { labelSelector: 'bench=stranger' };
  for (const { resource } of [configMaps, secrets]) {
    const path = `/api/v1/namespaces/${namespace}/${resource}`;
    await kube.raw({ method: 'DELETE', path, query, repeat: 'always' });
  }
  const { metadata } = await kube.list(configMaps, { namespace });
  const body = JSON.stringify({ revision: metadata.resourceVersion, physical: true });
  await fetch(`${plane.part('etcd').url}/v3/kv/compaction`, { method: 'POST', body });
}

/** Bytes that it has read since it began: from sockets mostly, few from files by now. */
async function bytesRead(pid: number): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, 'utf8');
  return Number(/^rchar: (\d+)$/m.exec(io)?.[1]);
}
