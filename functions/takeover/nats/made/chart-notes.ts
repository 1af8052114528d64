// Things to know of a takeover of a chart that do not speak against it. Pure.
import type { Reason } from '../../../../shared/kube/conditions.ts';
import type { LegacyNats } from '../legacy.ts';
import type { NatsState } from '../state.ts';

export function chartNotes(
  { takeover: { namespace } }: NatsState,
  { clientService, chart }: LegacyNats,
): readonly Reason[] {
  const { release = '', appliedBy } = chart ?? {};
  const message =
    `Helm goes on to know the release ${release}: from when this is confirmed run neither helm ` +
    'upgrade nor helm uninstall. By the first Helm 3 brings the old servers back, and Service ' +
    `${clientService} selects by both selectors then, so that it leads to nobody; the second ` +
    'deletes that Service, before Helm 4.3. Once it is over have Helm forget the release: ' +
    `kubectl -n ${namespace} delete secret -l owner=helm,name=${release}. What else it made ` +
    'stays; delete it then.';
  const note = { reason: 'HelmKnows', message };
  if (appliedBy === undefined) return [note];
  const applied =
    `${appliedBy} applies the chart, and would lead the Service back. Suspend that before, and ` +
    'take the release out of it afterwards.';
  return [note, { reason: 'AppliedAgain', message: applied }];
}
