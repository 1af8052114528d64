// Puts the values of the chart into one rendered object, and what Helm has to know of it. Pure.
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { expressed } from './marks.ts';

/** As knative/settings has them. */
const IMAGE = /^dev\.local\/ballast\/([a-z-]+):/;
const SETTINGS = /^ballast-settings-[a-z0-9]{10}$/;
const SCALE = /^autoscaling\.knative\.dev\/(min|max)-scale$/;
/** The policies about images of servers, and the variable in them that people change. */
const POLICY = /^ballast-(nats|etcd)-images$/;
const ALLOWED = /^\[('[^']*'(?:, '[^']*')*)\]$/;

/**
 * Neither an upgrade nor an uninstall deletes these: with a definition or the namespace all that
 * people have made would go, and former revisions of functions start from former settings.
 */
const isKept = ({ kind, metadata }: Manifest): boolean =>
  ['CustomResourceDefinition', 'Namespace'].includes(kind) || SETTINGS.test(metadata.name);

/** The function whose image it is. */
export const imageIn = (value: string): string | undefined => IMAGE.exec(value)?.[1];

export const isSettings = ({ kind, metadata }: Manifest): boolean =>
  kind === 'ConfigMap' && SETTINGS.test(metadata.name);

/** The servers that run them, with the images; nothing for any other object. */
export function allowedImagesIn(
  object: Manifest,
): readonly (readonly [string, readonly string[]])[] {
  const servers = POLICY.exec(object.metadata.name)?.[1];
  const [, list] = /"expression":"\[('[^\]]*')\]"/.exec(JSON.stringify(object)) ?? [];
  return servers === undefined || list === undefined
    ? []
    : [[servers, list.slice(1, -1).split("', '")]];
}

export function marked(object: Manifest): Manifest {
  const { name } = object.metadata;
  const valued: Manifest = JSON.parse(JSON.stringify(object), (key, value: unknown) =>
    typeof value === 'string' ? textWith(name, key, value) : value,
  );
  const { metadata } = valued;
  const kept = { ...Object(metadata['annotations']), 'helm.sh/resource-policy': 'keep' };
  return {
    ...valued,
    metadata: isKept(object) ? { ...metadata, annotations: kept } : metadata,
    ...(isSettings(object) ? { data: expressed('include "ballast.settings.data" .') } : {}),
  };
}

function textWith(object: string, key: string, text: string): string {
  if (SETTINGS.test(text)) return expressed('include "ballast.settings.name" .');
  const image = imageIn(text);
  if (image !== undefined) return expressed(`include "ballast.image" (list . "${image}") | quote`);
  const bound = SCALE.exec(key)?.[1];
  if (bound !== undefined) {
    return expressed(`dig "${object}" "${bound}" ${text} .Values.scale | int | quote`);
  }
  const servers = POLICY.exec(object)?.[1];
  if (servers === undefined || !ALLOWED.test(text)) return text;
  return expressed(`include "ballast.list" .Values.allowedImages.${servers} | quote`);
}
