// The answer 404: it names the object, how many objects were searched, and the version of the feed.
import { Failure } from '../../shared/errors.ts';
import type { Selection } from '../../shared/nats/replica/selector.ts';
import type { Observation } from './query-route.ts';

export interface Search {
  /** As `deployment shop/web`. */
  readonly subject: string;
  /** The parameter that named the object. */
  readonly field: string;
  /** The objects that were searched; all when absent. */
  readonly among?: Selection;
  readonly hint?: string;
}

export function notFound(
  { subject, field, among = {}, hint }: Search,
  observation: Observation,
): Failure {
  const { resource, namespace } = among;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const counts = observation.catalog.counts(namespace);
  const count =
    resource === undefined
      ? Object.values(counts).reduce((sum, one) => sum + one, 0)
      : (counts[resource] ?? 0);
  const more = hint === undefined ? '' : ` ${hint}`;
  const message =
    `There is no ${subject}: looked through ${count} ${resource ?? 'objects'}${where}, ` +
    `at version ${observation.state.version} of the feed.${more}`;
  return new Failure('OBJECT_UNKNOWN', message, { field, object: subject });
}
