// Whether a feed knows the node or the namespaces that somebody asks about: a name that is written
// wrongly looks like a place where nothing runs.
import type { Entry } from '../../../../shared/nats/replica/entry.ts';
import type { Scope } from '../../../../shared/nats/replica/scope.ts';

/** Undefined when each is known: by its own object, or by something that is there. */
export function whyUnknown(scope: Scope, entries: readonly Entry[]): string | undefined {
  if (scope === 'cluster') return undefined;
  const known = 'node' in scope ? nodesIn(entries) : namespacesIn(entries);
  const wanted = 'node' in scope ? [scope.node] : scope.namespaces;
  const unknown = wanted.filter((name) => !known.has(name));
  if (unknown.length === 0) return undefined;
  const field = 'node' in scope ? 'node' : 'namespace';
  const examples = [...known].toSorted().slice(0, EXAMPLES_MAX);
  const there =
    examples.length === 0 ? `nor of any other ${field}` : `but of ${examples.join(', ')}`;
  const more = known.size > examples.length ? ` and ${known.size - examples.length} more` : '';
  return `the feed shows nothing of the ${field} ${unknown.join(', ')}, ${there}${more}`;
}

const EXAMPLES_MAX = 5;

function nodesIn(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(
    entries.flatMap(({ place, key }) => {
      if (typeof place === 'object') return [place.node];
      return key.resource === 'nodes' ? [key.name] : [];
    }),
  );
}

function namespacesIn(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(
    entries.flatMap(({ key }) => {
      if (key.namespace !== '') return [key.namespace];
      return key.resource === 'namespaces' ? [key.name] : [];
    }),
  );
}
