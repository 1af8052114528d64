// `/complete`: the names that begin as somebody has begun to type.
import { invalid } from './asked.ts';
import { KINDS, LIMIT, NAMESPACES, PREFIX } from './parameters.ts';
import type { Question, World } from './question.ts';
import { STRING, listOf, record } from './schema.ts';

const LIMIT_DEFAULT = 20;

export const COMPLETE: Question = {
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
  answer: (asked, world) => {
    const prefix = asked.get(PREFIX) ?? '';
    const resources = asked.get(KINDS);
    assertKnown(resources ?? [], world);
    const found = world.catalog.complete(prefix, {
      resources: resources && [...new Set(resources)],
      namespaces: asked.get(NAMESPACES),
      limit: asked.get(LIMIT) ?? LIMIT_DEFAULT,
    });
    const matches = found.map(({ resource, name, namespaces }) => ({
      resource,
      name,
      namespaces: namespaces.filter((namespace) => namespace !== ''),
    }));
    return { body: { prefix, matches } };
  },
};

/** `pod` for `pods` would else look like a cluster without any. */
function assertKnown(resources: readonly string[], { catalog }: World): void {
  const known = Object.keys(catalog.counts());
  const stranger = resources.find((resource) => !known.includes(resource));
  if (stranger === undefined) return;
  const names = known.toSorted().join(', ') || 'none';
  throw invalid(KINDS.name, `The feed holds no ${stranger}; it holds: ${names}.`);
}
