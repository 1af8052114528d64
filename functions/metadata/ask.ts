// Asks the API server about one object: by a list of its name and not by a get, since only a list
// says as of when the object is absent.
import type { ObjectKey } from '../../shared/feed/subjects.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Freshness } from '../../shared/kube/reads.ts';
import type { Deps } from './deps.ts';
import type { ShownResource } from './feed.ts';
import type { Session } from './session.ts';

export interface AskTask {
  readonly deps: Deps;
  readonly session: Session;
  readonly signal: AbortSignal;
}

export interface Asked {
  readonly object: KubeObject | undefined;
  readonly isTooLarge: boolean;
  /** As of when it is as it is: its own version, or that of the list that lacks it. */
  readonly resourceVersion: string;
  /** As of when the API server looked. */
  readonly asOf: string;
}

export async function ask(
  { deps, session, signal }: AskTask,
  { ref }: ShownResource,
  { name, namespace }: ObjectKey,
  freshness: Freshness,
): Promise<Asked> {
  return session.asking.take(async () => {
    const pages = deps.kube.pages(ref, {
      ...(namespace === '' ? {} : { namespace }),
      fieldSelector: `metadata.name=${name.replaceAll(/[\\,=]/g, String.raw`\$&`)}`,
      limit: 1,
      freshness,
      onTooLarge: 'skim',
      signal,
    });
    for await (const { items, tooLarge = [], metadata } of pages) {
      const object = items[0] ?? tooLarge[0];
      const { resourceVersion: asOf } = metadata;
      const { resourceVersion } = object?.metadata ?? metadata;
      return { object, isTooLarge: tooLarge.length > 0, resourceVersion, asOf };
    }
    throw new TypeError('a list without a page');
  }, signal);
}
