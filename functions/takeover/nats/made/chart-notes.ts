// Things to know of a takeover of a chart that do not speak against it. Pure.
import type { Reason } from '../../../../shared/kube/conditions.ts';
import type { LegacyNats } from '../legacy.ts';
import type { NatsState } from '../state.ts';

export function chartNotes(
  { takeover: { namespace } }: NatsState,
  { clientService, chart }: LegacyNats,
): readonly Reason[] {
  const { release = '', isOfHelm = false, appliedBy } = chart ?? {};
  const known = isOfHelm ? [helmKnows(namespace, clientService, release)] : [];
  if (isOfHelm && appliedBy === undefined) return known;
  return [...known, appliedAgain(clientService, appliedBy)];
}

function helmKnows(namespace: string, clientService: string, release: string): Reason {
  const message =
    `Helm goes on to know the release ${release}: from when this is confirmed run neither helm ` +
    'upgrade nor helm uninstall. By the first Helm 3 brings the old servers back, and Service ' +
    `${clientService} selects by both selectors then, so that it leads to nobody; the second ` +
    'deletes that Service, before Helm 4.3. Once it is over have Helm forget the release: ' +
    `kubectl -n ${namespace} delete secret -l owner=helm,name=${release}. What else it made ` +
    'stays; delete it then.';
  return { reason: 'HelmKnows', message };
}

/** Without the mark of Helm: Argo CD, kustomize or `kubectl apply`, of which some leave none. */
function appliedAgain(clientService: string, appliedBy: string | undefined): Reason {
  const who =
    appliedBy === undefined
      ? 'Helm has not made this itself (annotation meta.helm.sh/release-name lacks), so Argo CD, ' +
        'kustomize or kubectl apply applies what helm template wrote. Applied again, it brings'
      : `${appliedBy} applies the chart, and brings`;
  const message =
    `${who} the old servers back and has Service ${clientService} select by both selectors, so ` +
    'that it leads to nobody. Suspend that before, and take the release out of it afterwards.';
  return { reason: 'AppliedAgain', message };
}
