// The rung that makes sure of every real part before a test needs it: each is found or built.

import { moduleConfig } from '../../knative/try/cluster/knative/module-config.ts';
import { planePartNames } from '../../knative/try/local/parts/catalog.ts';
import { partsSettings } from '../../knative/try/local/parts/settings.ts';
import { haveParts } from './have-parts.ts';

/** Knative's definitions, which the manifests are tried against. */
const judges = ['kn', 'eventing-webhook', 'serving-webhook'] as const;

process.exitCode = await haveParts([...planePartNames, ...judges], async (signal) => {
  // The definitions of Knative's kinds, kept beside the parts.
  await moduleConfig(partsSettings(), signal);
});
