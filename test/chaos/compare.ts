// Computes from the API server's own lists the picture that a feed should show, and how two
// pictures differ.
import type { FeedMessage } from '../../shared/feed/messages.ts';
import { BUILT_IN } from '../../shared/feed/projections/built-in.ts';
import { show } from '../../shared/feed/projections/show.ts';
import { encodeToken } from '../../shared/feed/subjects.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Scope } from '../../shared/nats/replica/scope.ts';

/** Messages by subject, as text. */
export type View = ReadonlyMap<string, string>;

const PLAN = { epoch: 0, podLabels: ['*'], podAnnotations: [], fields: [] };

export async function expectedView(kube: KubeClient): Promise<View> {
  const lists = BUILT_IN.map(async ({ resource, ref }) => {
    const { items } = await kube.list(ref);
    return items.flatMap((object) => show(resource, object, PLAN));
  });
  const all = (await Promise.all(lists)).flat();
  return new Map(all.map(({ subject, message }) => [subject, comparable(message)]));
}

/** The part that a scope shows. */
export function viewOf(view: View, scope: Scope): View {
  const isShown = ([subject]: readonly [string, string]): boolean => {
    if (scope === 'cluster') return true;
    const [place = '', node = '', , namespace = ''] = subject.split('.');
    if ('namespaces' in scope) {
      return namespace === '_' || scope.namespaces.map(encodeToken).includes(namespace);
    }
    return place === 'all' || (place === 'node' && node === encodeToken(scope.node));
  };
  return new Map([...view].filter(isShown));
}

/** A reader holds the same messages for as long as nothing changes, and is looked at again. */
const known = new WeakMap<FeedMessage, string>();

/** Without what two looks may differ in: a change that shows nowhere moves the resourceVersion. */
export function comparable(message: FeedMessage): string {
  const text =
    known.get(message) ?? JSON.stringify(inOrder({ ...message, epoch: 0, resourceVersion: '' }));
  known.set(message, text);
  return text;
}

export function differences(expected: View, found: View): readonly string[] {
  const lacking = [...expected.keys()].filter((subject) => !found.has(subject));
  const other = [...found].filter(([subject, message]) => expected.get(subject) !== message);
  return [
    ...lacking.map((subject) => `lacks ${subject}`),
    ...other.map(([subject, message]) =>
      expected.has(subject)
        ? `has ${subject} as ${message}, but it is ${expected.get(subject)}`
        : `still has ${subject}`,
    ),
  ];
}

/** A replica may hold the fields in another order than they were sent in. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, inOrder(inner)]));
}
