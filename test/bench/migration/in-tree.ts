// The migrator of Kubernetes itself, in a kube-controller-manager with the rates that it has by
// default. On a kind that nobody writes it begins after a minute; the hurried one is measured at its
// best, with a write that spares it that.
import {
  addInTreeMigrator,
  migrateInTree,
  untilItKnowsTheKinds,
} from '../../integration/migration/in-tree.ts';
import type { Part } from '../../../knative/local/process/part.ts';
import type { MigrationSide } from './side.ts';

export function inTreeSide({ isHurried }: { readonly isHurried: boolean }): MigrationSide {
  let part: Part | undefined;
  return {
    name: `in-tree migrator of Kubernetes 1.36.3${isHurried ? ', hurried' : ''}`,
    prepare: async ({ plane }) => {
      if (part === undefined) {
        part = await addInTreeMigrator(plane);
        return;
      }
      await part.start();
      await untilItKnowsTheKinds(part);
    },
    migrate: async ({ kube, kind }) => {
      const { result, message } = await migrateInTree(kube, kind, { isHurried });
      if (result === 'Failed') throw new Error(`The in-tree migrator failed: ${message}`);
    },
    rest: async () => part?.stop(),
  };
}
