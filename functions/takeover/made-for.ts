// The marks of a cluster that a takeover makes itself: it stays when the Takeover goes, so it has
// no owner, and is known for ours by the name and the uid of that. Pure.
import { TAKEOVER_LABEL, TAKEOVER_UID_ANNOTATION } from '../../shared/api/takeover.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Takeover } from './object.ts';

export const labelsFor = ({ name }: Pick<Takeover, 'name'>) => ({
  'app.kubernetes.io/managed-by': 'ballast',
  [TAKEOVER_LABEL]: name,
});

export const annotationsFor = ({ uid }: Pick<Takeover, 'uid'>) => ({
  [TAKEOVER_UID_ANNOTATION]: uid,
});

/** Made for this Takeover, and for none of its name before it. */
export const isMadeFor = ({ metadata }: KubeObject, { name, uid }: Takeover): boolean =>
  metadata.labels?.[TAKEOVER_LABEL] === name &&
  metadata.annotations?.[TAKEOVER_UID_ANNOTATION] === uid;
