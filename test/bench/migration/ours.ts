// Our function as it ships, in a process of its own. The event that its source sends for a new
// StorageMigration is sent by hand, and again when a request ended before the work did, as the
// change of the status does.
import { buildFunction } from '../../../knative/tools/build/build.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { bundleCommand, functionSpec } from '../../../knative/try/local/cluster/function-part.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import {
  STORAGE_MIGRATIONS,
  type StorageMigrationStatus,
} from '../../../shared/api/storage-migration.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { GROUP, until, type VersionedKind } from '../../builders/versioned-kind.ts';
import { outDir } from '../handlers/servers.ts';
import type { MigrationSide } from './world.ts';

const NAME = 'storage-migration';
const MANIFESTS = new URL('../../../knative', import.meta.url).pathname;
const MIGRATED_WITHIN_MS = 300_000;

export function ourSide(): MigrationSide {
  let part: Part | undefined;
  let undo: () => Promise<unknown> = async () => undefined;
  return {
    name: 'ours, with the proof',
    prepare: async ({ plane, kube }) => {
      if (part === undefined) part = await startFunction(plane, kube);
      else await part.start();
    },
    migrate: async ({ kube, kind }) => {
      const object = await createMigration(kube, kind);
      const { name, uid } = object.metadata;
      undo = () => kube.delete(STORAGE_MIGRATIONS, { name }, { uid });
      const isProved = async (): Promise<boolean> => {
        await tell(part?.url ?? '', object);
        return isDone(await kube.get(STORAGE_MIGRATIONS, { name }));
      };
      await until(`${name} to be proved`, isProved, MIGRATED_WITHIN_MS);
    },
    rest: async () => {
      await undo();
      await part?.stop();
    },
  };
}

async function startFunction(plane: Plane, kube: KubeClient): Promise<Part> {
  const { objects } = await loadWiring(MANIFESTS);
  await applyObjects(kube, objects);
  const built = await buildFunction(NAME, outDir);
  const { kubeconfigPath } = plane;
  const port = await freePort();
  const env = {
    LOG_LEVEL: 'warn',
    WORK_SECONDS: '20',
    REQUEST_DEADLINE_SECONDS: '50',
    // As for a version that has been the stored one for more than a minute.
    LONGEST_WRITE_SECONDS: '0',
  };
  const command = bundleCommand(built.dir);
  return plane.add(functionSpec({ name: NAME, command, port, kubeconfigPath, env }));
}

async function createMigration(kube: KubeClient, { crdName: name, plural }: VersionedKind) {
  const { object } = await kube.create(STORAGE_MIGRATIONS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    metadata: { name },
    spec: { resource: { group: GROUP, resource: plural }, budget: { concurrency: 32 } },
  });
  return object;
}

async function tell(url: string, object: object): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': crypto.randomUUID(),
    'ce-source': '/bench',
    'ce-type': 'dev.knative.apiserver.resource.add',
  };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(object) });
  if (answer.status !== 204) throw new Error(`the function answered ${await answer.text()}`);
}

function isDone(object: KubeObject | null): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- held to its schema
  const { phase, conditions = [] } = (object?.['status'] ?? {}) as StorageMigrationStatus;
  const blocked = conditions.find(({ type, status }) => type === 'Blocked' && status === 'True');
  if (blocked !== undefined) throw new Error(`blocked: ${blocked.message}`);
  return phase === 'Done';
}
