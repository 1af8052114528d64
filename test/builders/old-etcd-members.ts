// Members of etcd 3.3.27 as processes that know each other by their names alone, each in a root
// directory of its own: a test says whom they find by these names.
import { link, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import type { Part, PartSpec } from '../../knative/try/local/process/part.ts';
import { askLegacy } from '../../shared/etcd/legacy.ts';
import type { OldPod } from './old-pods.ts';
import { giveTo, rooted } from './rooted.ts';

const USER = 65_534;

interface Runner {
  readonly dir: string;
  readonly add: (spec: PartSpec) => Promise<Part>;
}

export class OldEtcdMembers {
  readonly #members: readonly OldPod[];
  readonly #flags: readonly string[];
  readonly #roots: string[] = [];

  constructor(members: readonly OldPod[], flags: readonly string[] = []) {
    this.#members = members;
    this.#flags = flags;
  }

  /** Lines of a file of hosts. */
  get hosts(): readonly string[] {
    return this.#members.map(({ ip, host }) => `${ip} ${host}`);
  }

  /** Resolves when all are ready. */
  async start(runner: Runner): Promise<void> {
    await Promise.all(this.#members.map((one) => this.#start(runner, one)));
  }

  /** Whom they find by which name from now on; in the text of a file of hosts. */
  async tellHosts(text: string): Promise<void> {
    await Promise.all(this.#roots.map((root) => writeFile(join(root, 'etc/hosts'), text)));
  }

  async #start(runner: Runner, { name, ip, host }: OldPod): Promise<void> {
    const root = join(runner.dir, 'old', name);
    for (const dir of ['etc', 'data']) await mkdir(join(root, dir), { recursive: true });
    await link(await resolvePart('etcd-3-3'), join(root, 'etcd'));
    await writeFile(join(root, 'etc/hosts'), ['127.0.0.1 localhost', ...this.hosts, ''].join('\n'));
    await giveTo(USER, join(root, 'data'));
    this.#roots.push(root);
    const url = `http://${ip}:2379`;
    const peers = this.#members.map((one) => `${one.name}=http://${one.host}:2380`);
    await runner.add({
      name,
      ...rooted(root, USER, [
        '/etcd',
        `--name=${name}`,
        '--data-dir=/data/member',
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=http://${host}:2379`,
        `--listen-peer-urls=http://${ip}:2380`,
        `--initial-advertise-peer-urls=http://${host}:2380`,
        `--initial-cluster=${peers.join(',')}`,
        '--initial-cluster-state=new',
        ...this.#flags,
      ]),
      env: {},
      url,
      ready: async () => (await askLegacy({ url }, undefined, { timeoutMs: 2_000 })).isQuorate,
    });
  }
}
