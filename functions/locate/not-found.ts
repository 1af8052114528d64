// 404s that say what was looked for, through how much, and at which version.
import { Failure } from '../../shared/errors.ts';
import type { Selection } from '../../shared/nats/replica/selector.ts';
import type { World } from './question.ts';

export interface Search {
  /** As `deployment shop/web`. */
  readonly what: string;
  /** The parameter it was asked with. */
  readonly field: string;
  /** What was looked through; all when absent. */
  readonly among?: Selection;
  readonly hint?: string;
}

export function notFound({ what, field, among = {}, hint }: Search, world: World): Failure {
  const { resource, namespace } = among;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const counts = world.catalog.counts(namespace);
  const count =
    resource === undefined
      ? Object.values(counts).reduce((sum, one) => sum + one, 0)
      : (counts[resource] ?? 0);
  const more = hint === undefined ? '' : ` ${hint}`;
  const message =
    `There is no ${what}: looked through ${count} ${resource ?? 'objects'}${where}, ` +
    `at version ${world.state.version} of the feed.${more}`;
  return new Failure('OBJECT_UNKNOWN', message, { field, object: what });
}
