// The migrator of Kubernetes itself, in a kube-controller-manager with the rates that it has by
// default.
import {
  addInTreeMigrator,
  migrateInTree,
  untilItKnowsTheKinds,
} from '../../integration/migration/in-tree.ts';
import { CONTROLLER_MANAGER } from '../../../knative/try/local/plane/kube-controller-manager.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import type { MigrationSide } from './world.ts';

/**
 * At its best somebody writes to the kind right after the start; where nobody does (`isIdle`), it
 * waits for a bookmark of its watch.
 */
export function inTreeSide({ isIdle = false } = {}): MigrationSide {
  let part: Part | undefined;
  return {
    name: `in-tree migrator of Kubernetes 1.36.3${isIdle ? ', idle kind' : ''}`,
    prepare: async ({ plane }) => {
      part = plane.parts().find(({ name }) => name === CONTROLLER_MANAGER);
      if (part === undefined) {
        part = await addInTreeMigrator(plane);
        return;
      }
      await part.start();
      await untilItKnowsTheKinds(part);
    },
    migrate: async ({ kube, kind }) => {
      const { result, message } = await migrateInTree(kube, kind, { isIdle });
      if (result === 'Failed') throw new Error(`The in-tree migrator failed: ${message}`);
    },
    rest: async () => part?.stop(),
  };
}
