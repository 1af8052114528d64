// Speaks against a takeover into an etcd that is older than what runs. Pure.
import { versionIn } from '../../../shared/etcd/version.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { answersOf } from '../answers.ts';
import type { State } from '../state.ts';
import { versionOf } from '../versions.ts';

/** An older etcd does not start with the data of a newer one. */
export function refuseNewer(state: State): readonly Reason[] {
  const image = state.target.spec?.image ?? '';
  const { major, minor } = versionIn(image) ?? {};
  const newest = answersOf(state)
    .map(({ answer }) => answer.status.version)
    .toSorted((one, other) => versionOf(other) - versionOf(one))[0];
  if (major === undefined || newest === undefined) return [];
  if (versionOf(newest) <= versionOf(`${major}.${minor}`)) return [];
  const message =
    `It runs etcd ${newest}, and new members would run ${image}, which is older. Write a ` +
    'spec.into.spec.image that is not.';
  return [{ reason: 'VersionTooNew', message }];
}
