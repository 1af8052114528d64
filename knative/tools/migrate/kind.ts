// Whether the API server at hand serves a kind: rights on a kind that is not there are granted
// without a word, and stay. And in which version it takes a StorageMigration.
import { Failure } from '../../../shared/errors.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { GROUP, type Version, VERSIONS, WRITTEN } from '../../../shared/kube/own-kinds/versions.ts';
import { servedResource, servedVersions } from '../../../shared/kube/storage-version.ts';

export type Served =
  /** `own` is the version of ours that it serves; the first one where it serves both or none. */
  | { readonly is: 'served'; readonly own: Version }
  | { readonly is: 'unknown' }
  /** Nobody could be asked. */
  | { readonly is: 'unasked'; readonly why: string };

/** A person waits, and there may be no cluster at all. */
const ASK_MS = 5_000;

export async function askWhetherServed(group: string, resource: string): Promise<Served> {
  const kube = openKube({ userAgent: 'ballast-migrate', fieldManager: 'ballast-migrate' });
  const options = { timeoutMs: ASK_MS, isOnce: true };
  try {
    for (const version of await servedVersions(kube, group, options)) {
      const found = await servedResource(kube, { group, version, resource }, options);
      if (found === undefined) continue;
      const ours = await servedVersions(kube, GROUP, options);
      return { is: 'served', own: VERSIONS.find((one) => ours.includes(one)) ?? WRITTEN };
    }
    return { is: 'unknown' };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { is: 'unasked', why: error.message };
  } finally {
    await kube.close();
  }
}
