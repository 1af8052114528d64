// `/complete`: names that begin with a prefix, for completion as somebody types.
import { invalid } from './query.ts';
import { KINDS, LIMIT, NAMESPACES, PREFIX } from './parameters.ts';
import type { QueryRoute, Observation } from './query-route.ts';
import { STRING, listOf, record } from './schema.ts';

const LIMIT_DEFAULT = 20;

export const COMPLETE: QueryRoute = {
  method: 'GET',
  path: '/complete',
  summary: 'the names that begin so, or of which a part does, best first',
  required: [PREFIX],
  optional: [KINDS, NAMESPACES, LIMIT],
  answers: record({
    prefix: STRING,
    matches: {
      ...listOf(record({ resource: STRING, name: STRING, namespaces: listOf(STRING) })),
      description: 'the name itself, then beginnings, then parts; of these the shortest first',
    },
  }),
  answer: (query, observation) => {
    const prefix = query.get(PREFIX) ?? '';
    const resources = query.get(KINDS);
    assertKnown(resources ?? [], observation);
    const found = observation.catalog.complete(prefix, {
      resources: resources && [...new Set(resources)],
      namespaces: query.get(NAMESPACES),
      limit: query.get(LIMIT) ?? LIMIT_DEFAULT,
    });
    const matches = found.map(({ resource, name, namespaces }) => ({
      resource,
      name,
      namespaces: namespaces.filter((namespace) => namespace !== ''),
    }));
    return { body: { prefix, matches } };
  },
};

/** `pod` for `pods` would otherwise look like a cluster without any. */
function assertKnown(resources: readonly string[], { catalog }: Observation): void {
  const known = Object.keys(catalog.counts());
  const stranger = resources.find((resource) => !known.includes(resource));
  if (stranger === undefined) return;
  const names = known.toSorted().join(', ') || 'none';
  throw invalid(KINDS.name, `The feed holds no ${stranger}; it holds: ${names}.`);
}
