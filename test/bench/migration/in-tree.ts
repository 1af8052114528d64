// The migrator of Kubernetes itself, in a kube-controller-manager with the rates that it has by
// default. The kind is written to once, so that it does not wait for a bookmark of the watch, which
// comes after a minute: it is measured at its best.
import {
  addInTreeMigrator,
  migrateInTree,
  untilItKnowsTheKinds,
} from '../../integration/migration/in-tree.ts';
import type { Part } from '../../../knative/local/process/part.ts';
import type { MigrationSide } from './side.ts';

export function inTreeSide(): MigrationSide {
  let part: Part | undefined;
  return {
    name: 'in-tree migrator of Kubernetes 1.36.3',
    prepare: async ({ plane }) => {
      if (part === undefined) {
        part = await addInTreeMigrator(plane);
        return;
      }
      await part.start();
      await untilItKnowsTheKinds(part);
    },
    migrate: async ({ kube, kind }) => {
      const { result, message } = await migrateInTree(kube, kind);
      if (result === 'Failed') throw new Error(`The in-tree migrator failed: ${message}`);
    },
    rest: async () => part?.stop(),
  };
}
