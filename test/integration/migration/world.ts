// A control plane, the function storage-migration on it, and kinds with objects stored in an old
// version. Events are sent by hand: a migration gets on by ticks alone.
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { storageMigration } from '../../../functions/storage-migration/index.ts';
import {
  STORAGE_MIGRATIONS,
  type StorageMigrationStatus,
} from '../../../shared/api/storage-migration.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { countStored } from '../../builders/etcd-values.ts';
import { sendEvent } from '../../builders/send-event.ts';
import {
  GROUP,
  OLD,
  until,
  VersionedKind,
  type Conversion,
} from '../../builders/versioned-kind.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;
const KNATIVE = new URL('../../../knative', import.meta.url).pathname;

type AnyKind = Pick<VersionedKind, 'crdName' | 'plural'>;

export class MigrationWorld<P extends PlaneAddress = PlaneAddress> {
  readonly plane: P;
  readonly kube: KubeClient;
  #functions: RunningFunction[] = [];

  constructor(plane: P) {
    this.plane = plane;
    const { kubeconfigPath } = plane;
    this.kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  }

  /** On a plane of one's own; the lane's has it from the start. */
  async install(): Promise<void> {
    await applyObjects(this.kube, (await loadWiring(KNATIVE)).objects);
  }

  /**
   * Kinds that are named here are there when their turn comes: for the first two seconds after a
   * definition the API server makes whoever creates an object wait.
   */
  async prepare(...plurals: readonly string[]): Promise<void> {
    const kinds = plurals.map((plural) => new VersionedKind(this.plane, this.kube, plural));
    await Promise.all(kinds.map((kind) => kind.define(OLD)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#functions.map((one) => one.stop()));
    await this.kube.close();
  }

  async startFunction(more: Readonly<Record<string, string>> = {}): Promise<RunningFunction> {
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      SETTLE_SECONDS: '0.2',
      LONGEST_WRITE_SECONDS: '0',
      KUBECONFIG: this.plane.kubeconfigPath,
      ...more,
    };
    const build = { version: '0.0.0', commit: '' };
    const one = await startFunction(storageMigration, { environment, build });
    this.#functions.push(one);
    return one;
  }

  /** A kind of its own, with so many objects in the old version. */
  async kind(plural: string, count: number, conversion?: Conversion): Promise<VersionedKind> {
    const kind = new VersionedKind(this.plane, this.kube, plural, conversion);
    await kind.fill(count);
    return kind;
  }

  async migrate({ crdName: name, plural }: AnyKind, spec: object = {}): Promise<string> {
    await this.kube.create(STORAGE_MIGRATIONS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'StorageMigration',
      metadata: { name },
      spec: { resource: { group: GROUP, resource: plural }, ...spec },
    });
    return name;
  }

  async status(name: string): Promise<StorageMigrationStatus> {
    return (await this.kube.get(STORAGE_MIGRATIONS, { name }))?.['status'] ?? {};
  }

  /** The sentence of a condition that is true; the empty text when it is not. */
  async condition(name: string, type: string): Promise<string> {
    const { conditions = [] } = await this.status(name);
    const found = conditions.find((one) => one.type === type && one.status === 'True');
    return found === undefined ? '' : `${found.reason}: ${found.message}`;
  }

  /** The messages of Events on the CRD. */
  async eventsOn({ crdName }: AnyKind): Promise<readonly string[]> {
    const fieldSelector = `involvedObject.name=${crdName}`;
    const { items } = await this.kube.list(EVENTS, { namespace: 'default', fieldSelector });
    return items.map((event) => `${String(event['reason'])}: ${String(event['message'])}`);
  }

  stored({ plural }: AnyKind): Promise<Readonly<Record<string, number>>> {
    return countStored(this.plane, GROUP, plural);
  }

  /** The sweep's event; answers what the function said. */
  tick({ port }: RunningFunction): Promise<string> {
    return send(port, 'dev.knative.sources.ping', {});
  }

  /** As the source of events would tell of it; answers what the function said. */
  event({ port }: RunningFunction, kind: string, name: string): Promise<string> {
    const type = 'dev.knative.apiserver.resource.update';
    return send(port, type, { kind, metadata: { name } });
  }

  /** Ticks until the migration is in this phase. */
  async tickUntil(
    one: RunningFunction,
    name: string,
    phase: string,
    isSo: (status: StorageMigrationStatus) => boolean = () => true,
  ): Promise<void> {
    let answer = '';
    try {
      await until(`${name} to be ${phase}`, async () => {
        answer = await this.tick(one);
        const status = await this.status(name);
        return status.phase === phase && isSo(status);
      });
    } catch (error) {
      const status = JSON.stringify(await this.status(name), undefined, 1);
      throw new Error(`the last tick was answered ${answer}; ${status}`, { cause: error });
    }
  }
}

async function send(port: number, type: string, data: unknown): Promise<string> {
  const answer = await sendEvent(port, type, data);
  return `${answer.status} ${await answer.text()}`;
}
