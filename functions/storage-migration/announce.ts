// Tells on the CRD itself what was done to its list of stored versions: `kubectl describe crd`
// shows it to people who know nothing of the migration.
import { announce, type Announcement } from '../../shared/kube/announce.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Crd } from './target.ts';

export async function announceOn(
  { name, uid, resourceVersion }: Pick<Crd, 'name' | 'uid' | 'resourceVersion'>,
  announcement: Announcement,
  { kube, clock }: Pick<Deps, 'kube' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const announced = {
    apiVersion: `${CRDS.group}/${CRDS.version}`,
    kind: 'CustomResourceDefinition',
    name,
    uid,
    key: `${announcement.reason.toLowerCase()}.${resourceVersion}`,
  };
  const announcer = { kube, component: FIELD_MANAGER, nowMs: clock.nowMs() };
  await announce(announcer, announced, announcement, signal);
}
