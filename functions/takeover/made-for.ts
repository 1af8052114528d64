// The marks of a cluster that a takeover makes itself: it stays when the Takeover goes, so it has
// no owner, and is known for ours by the name and the uid of that. Pure.
import { TAKEOVER_LABEL, TAKEOVER_UID_ANNOTATION } from '../../shared/api/takeover.ts';
import {
  apiVersionOf,
  type KubeObject,
  type Manifest,
  type ResourceRef,
} from '../../shared/kube/objects.ts';
import type { Takeover } from './object.ts';

export const labelsFor = ({ name }: Pick<Takeover, 'name'>) => ({
  'app.kubernetes.io/managed-by': 'ballast',
  [TAKEOVER_LABEL]: name,
});

export const annotationsFor = ({ uid }: Pick<Takeover, 'uid'>) => ({
  [TAKEOVER_UID_ANNOTATION]: uid,
});

/** As it is made, and as the API server is asked how it would store it. */
export const clusterFor = (
  takeover: Takeover,
  { ref, kind }: { readonly ref: ResourceRef; readonly kind: string },
  spec: Readonly<Record<string, unknown>>,
): Manifest => ({
  apiVersion: apiVersionOf(ref),
  kind,
  metadata: {
    namespace: takeover.namespace,
    name: takeover.spec.into.name,
    labels: labelsFor(takeover),
    annotations: annotationsFor(takeover),
  },
  spec,
});

/** Made for this Takeover, and for none of its name before it. */
export const isMadeFor = ({ metadata }: KubeObject, { name, uid }: Takeover): boolean =>
  metadata.labels?.[TAKEOVER_LABEL] === name &&
  metadata.annotations?.[TAKEOVER_UID_ANNOTATION] === uid;
