// A real cluster on this machine, as a library: etcd, API server, controllers, scheduler, nodes
// with containerd, kubelet and runc, Services, names and volumes. It ends with its starter, however
// that ends.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nodePartNames } from '../local/parts/catalog.ts';
import type { PartName } from '../local/parts/part-entry.ts';
import { withLock } from '../local/parts/lock.ts';
import { resolveParts } from '../local/parts/resolve.ts';
import { partsSettings } from '../local/parts/settings.ts';
import { makeRunDirectory } from '../local/process/run-directory.ts';
import { type Reaper, startReaper } from '../local/process/start-reaper.ts';
import { type Addresses, addressesIn, nodeAddresses } from './addresses.ts';
import { hierarchies, makeCgroup, makeChildCgroup } from './cgroups.ts';
import { cleanUp, cleanUpLeftovers } from './clean-up.ts';
import { cgroupName, writeRecord } from './cluster-directory.ts';
import { debianPrograms } from './debian-programs.ts';
import { pauseArchive } from './images.ts';
import { INSIDE_DIR, type InsideConfig, type InsideMessage } from './inside/config.ts';
import { enterNamespaces, type Inside } from './namespaces.ts';
import { CannotRunHere, systemPath, whyNotAt, whyNotHere } from './preflight.ts';
import { ReachedCluster } from './reached-cluster.ts';
import { layWire } from './wire.ts';

export interface ClusterOptions {
  readonly nodes: number;
  /** `A.B.0.0/16` of the private networks; the first free one when absent. */
  readonly subnet?: string | undefined;
  /** Fields in which the configuration of the kubelets differs from kubelet.ts. */
  readonly kubelet?: Readonly<Record<string, unknown>>;
  readonly onMessage?: (message: InsideMessage) => void;
  /** Called with notes before there is a cluster, such as parts that are fetched. */
  readonly onNote?: (text: string) => void;
  /** Ends a start that is still going on. */
  readonly signal?: AbortSignal | undefined;
}

export interface Cluster extends ReachedCluster {
  /** Resolves with its last words when the cluster ends without being told to. */
  readonly ended: Promise<string>;
  /** Leaves nothing behind. */
  stop(): Promise<void>;
}

const CONTROL_PLANE: readonly PartName[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kubectl',
];

/** All that has to be on the machine before a cluster starts. */
const clusterPartNames: readonly PartName[] = [...CONTROL_PLANE, ...nodePartNames];

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { signal } = options;
  const why = await whyNotHere();
  if (why !== undefined) throw new CannotRunHere(why);
  // Somebody else's remains are no reason not to start beside them.
  await cleanUpLeftovers((text) => options.onNote?.(text));
  const ending = signal === undefined ? {} : { signal };
  const resolved = await resolveParts(clusterPartNames, ending);
  const found = await debianPrograms(partsSettings(), options.onNote ?? (() => undefined));
  const parts = Object.fromEntries([...resolved].map(([name, { path }]) => [name, path]));
  const path = [found.iptablesDir, dirname(parts['containerd'] ?? ''), systemPath].join(':');
  const programs = { parts, path, runc: found.runc };
  const { dir, addresses } = await claimAddresses(options);
  const reaper = startReaper(REAPER, dir);
  try {
    const config = await writeConfig(dir, addresses, options, programs);
    const inside = await startInside(config, options);
    return new RunningCluster(config, inside, reaper);
  } catch (error) {
    // Why it did not start matters more; what stays now, the reaper tries again when we end.
    const isClean = await cleanUp(dir).then(
      () => true,
      () => false,
    );
    if (isClean) reaper.dismiss();
    throw error;
  }
}

const REAPER = join(import.meta.dirname, 'reaper.ts');

/** From the record on, nobody else takes these addresses. */
async function claimAddresses({
  subnet,
  nodes,
}: ClusterOptions): Promise<{ readonly dir: string; readonly addresses: Addresses }> {
  return withLock('ballast-cluster-addresses', { onWait: () => undefined }, async () => {
    const addresses = await freeAddresses(subnet);
    const { path: dir } = await makeRunDirectory('cluster');
    await writeRecord(dir, { addresses, nodes });
    return { dir, addresses };
  });
}

async function freeAddresses(subnet: string | undefined): Promise<Addresses> {
  const candidates = subnet === undefined ? SUBNETS : [subnet];
  let why: string | undefined;
  for (const candidate of candidates) {
    const addresses = addressesIn(candidate);
    if (addresses === undefined) {
      throw new CannotRunHere(`${candidate} is no private network of the form A.B.0.0/16.`);
    }
    why = await whyNotAt(addresses);
    if (why === undefined) return addresses;
  }
  throw new CannotRunHere(why ?? 'no network is free');
}

/** Tried in this order by those who do not mind which. */
const SUBNETS = [213, 214, 215, 216, 217, 218].map((second) => `10.${second}.0.0/16`);

interface Programs {
  readonly parts: Readonly<Record<string, string>>;
  readonly path: string;
  readonly runc: string;
}

async function writeConfig(
  dir: string,
  addresses: Addresses,
  { nodes, kubelet = {} }: ClusterOptions,
  { parts, path, runc }: Programs,
): Promise<InsideConfig> {
  await mkdir(join(dir, 'tmp'));
  const config: InsideConfig = {
    hostDir: dir,
    dir: INSIDE_DIR,
    addresses,
    nodes: Array.from({ length: nodes }, (_, index) => nodeAddresses(addresses, index + 1)),
    parts,
    path,
    runc,
    cgroup: cgroupName(dir),
    hierarchies: await hierarchies(),
    kubelet,
    images: [join(INSIDE_DIR, await pauseArchive(parts['pause'] ?? '', dir))],
  };
  await writeFile(configPath(dir), JSON.stringify(config));
  return config;
}

const configPath = (dir: string): string => join(dir, 'config.json');

async function startInside(config: InsideConfig, options: ClusterOptions): Promise<Inside> {
  const { hostDir: dir, cgroup, hierarchies: found, addresses } = config;
  const { onMessage = () => undefined, signal } = options;
  await makeCgroup(cgroup, found);
  await makeChildCgroup(`${cgroup}/supervisor`, found);
  let onUp = (): void => undefined;
  const up = new Promise<void>((resolve) => (onUp = resolve));
  const inside = await enterNamespaces({
    configPath: configPath(dir),
    cgroup,
    hierarchies: found,
    env: { TMPDIR: join(INSIDE_DIR, 'tmp'), PATH: config.path },
    onMessage: (message) => {
      if (message.kind === 'up') onUp();
      onMessage(message);
    },
  });
  const onAbort = (): void => void inside.end();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    await layWire(addresses, inside.pid, dir);
    inside.go();
    const early = await Promise.race([up, inside.ended]);
    signal?.throwIfAborted();
    if (typeof early === 'string') throw new Error(`The cluster did not come up. ${early}`);
    return inside;
  } catch (error) {
    await inside.end();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

class RunningCluster extends ReachedCluster implements Cluster {
  readonly ended: Promise<string>;
  readonly #inside: Inside;
  readonly #reaper: Reaper;

  constructor({ hostDir: dir, addresses, nodes }: InsideConfig, inside: Inside, reaper: Reaper) {
    super({ dir, addresses, nodes: nodes.length });
    this.#inside = inside;
    this.#reaper = reaper;
    this.ended = inside.ended;
  }

  async stop(): Promise<void> {
    await this.#inside.end();
    await cleanUp(this.dir);
    this.#reaper.dismiss();
  }
}
