// The migrators that projects bring along for their own kinds, built from the modules under
// ../peers, and not held back by a limit of requests, which each of them has by default. Each runs
// as a process that is started when the migration is wanted, as their releases do it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { LineRing } from '../../../knative/try/local/process/line-ring.ts';
import { CURRENT, GROUP, until, type VersionedKind } from '../../builders/versioned-kind.ts';
import { buildGoPeer } from '../go-peer.ts';
import type { MigrationSide } from './world.ts';

const KNATIVE_PACKAGE = 'knative.dev/pkg/apiextensions';
const MIGRATED_WITHIN_MS = 300_000;
const LINES_IN_MESSAGE = 8;
/** More than an API server on two cores answers. */
const REQUESTS_PER_SECOND = 10_000;

/** The Job that each release of Knative runs: it ends when it is done. */
export function knativeSide(): MigrationSide {
  const limits = ['qps', 'burst'].map((name) => `--kube-api-${name}=${REQUESTS_PER_SECOND}`);
  let binary = '';
  return {
    name: 'migrator of knative.dev/pkg, as of serving 0.50',
    prepare: async () => {
      binary ||= await buildGoPeer('knative-pkg', `${KNATIVE_PACKAGE}/storageversion/cmd/migrate`);
    },
    migrate: async ({ plane, kind }) => {
      const job = new Peer(binary, [...limits, `${kind.plural}.${GROUP}`], plane);
      const ending = await job.ended;
      if (ending !== 'exit code 0') throw job.failure(ending);
    },
    rest: async () => undefined,
  };
}

/** A controller that goes on afterwards: it is done when storedVersions says so. */
export function clusterApiSide(): MigrationSide {
  let binary = '';
  let controller: Peer | undefined;
  return {
    name: 'CRD migrator of cluster-api 1.14.2',
    prepare: async () => {
      binary ||= await buildGoPeer('cluster-api');
    },
    migrate: async ({ plane, kind }) => {
      const args = [`--group=${GROUP}`, `--version=${CURRENT}`, `--kind=${kind.kind}`];
      const started = new Peer(binary, args, plane);
      controller = started;
      const died: Promise<never> = started.ended.then((ending) =>
        Promise.reject(started.failure(ending)),
      );
      await Promise.race([untilTrimmed(kind), died]);
    },
    rest: async () => controller?.end(),
  };
}

/** A process whose last lines explain its death. */
class Peer {
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #ring = new LineRing();

  constructor(binary: string, args: readonly string[], { kubeconfigPath }: Plane) {
    const env = { KUBECONFIG: kubeconfigPath };
    const child = spawn(binary, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#ring.push(text));
    this.#child = child;
    // Once its last words have been read, and not only when it is gone.
    this.ended = once(child, 'close').then(([code, signal]) =>
      typeof signal === 'string' ? signal : `exit code ${code}`,
    );
  }

  async end(): Promise<void> {
    // Callers that wait for it are rejected first.
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  failure(ending: string): Error {
    const { spawnfile } = this.#child;
    return new Error(`${spawnfile}: ${ending}. ${this.#ring.last(LINES_IN_MESSAGE).join('\n')}`);
  }
}

function untilTrimmed(kind: VersionedKind): Promise<void> {
  const isTrimmed = async () => (await kind.read()).status.storedVersions.join() === CURRENT;
  return until(`storedVersions of ${kind.crdName} to be trimmed`, isTrimmed, MIGRATED_WITHIN_MS);
}
