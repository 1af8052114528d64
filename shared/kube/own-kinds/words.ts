// Requests about our own kinds, and answers, in the version after that of the functions. Pure.
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../errors.ts';
import { isRecord } from '../json.ts';
import { describeObject } from '../paths.ts';
import type { AboutResource, KubeRequest } from '../request.ts';
import { convertObject, wordsIn } from './convert.ts';
import { KINDS, pluralOf } from './kinds.ts';
import type { Fields, Part } from './part.ts';
import { apiVersionOf, LATER, versionIn, WRITTEN } from './versions.ts';

const PARTS = new Map([...KINDS].map(([kind, parts]) => [pluralOf(kind), parts]));
const partsOf = ({ ref }: AboutResource): readonly Part[] => PARTS.get(ref.resource) ?? [];
const pathOf = (apiVersion: string): string => `/apis/${apiVersion}/`;

export function asSent(request: KubeRequest, about: AboutResource): KubeRequest {
  const { path, body } = request;
  return {
    ...request,
    path: path.replace(pathOf(apiVersionOf(WRITTEN)), pathOf(apiVersionOf(LATER))),
    body: isRecord(body) ? bodyOf(body, about) : body,
  };
}

/** A merge patch has no type, and how to delete has another one. */
function bodyOf(body: Fields, about: AboutResource): Fields {
  if (body['apiVersion'] === undefined) return patched(body, about);
  if (versionIn(body['apiVersion']) !== WRITTEN) return body;
  return convertObject(body, partsOf(about), WRITTEN, LATER);
}

/** The words of a patch alone may say nothing in another version, or something else. */
function patched(body: Fields, about: AboutResource): Fields {
  const parts = partsOf(about);
  const words = wordsIn(LATER, body, parts);
  if (isDeepStrictEqual(wordsIn(WRITTEN, words, parts), body)) return words;
  const message =
    `A patch of ${describeObject(about.ref, about)} cannot be said in ${apiVersionOf(LATER)}, ` +
    'because fields beside it are missing: apply the whole record instead.';
  throw new Failure('INTERNAL_BUG', message);
}

export function heard(about: AboutResource, answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  const parts = partsOf(about);
  const { items } = answer;
  if (!Array.isArray(items)) return asRead(answer, parts);
  const all = items.map((item: unknown) => (isRecord(item) ? asRead(item, parts) : item));
  const apiVersion =
    versionIn(answer['apiVersion']) === LATER ? apiVersionOf(WRITTEN) : answer['apiVersion'];
  return { ...answer, apiVersion, items: all };
}

function asRead(object: Fields, parts: readonly Part[]): Fields {
  if (versionIn(object['apiVersion']) !== LATER) return object;
  const { metadata } = object;
  const words = { ...wordsIn(WRITTEN, object, parts), apiVersion: apiVersionOf(WRITTEN) };
  if (!isRecord(metadata) || !Array.isArray(metadata['managedFields'])) return words;
  const managedFields = metadata['managedFields'].map((one: unknown) =>
    isRecord(one) ? managed(one, parts) : one,
  );
  return { ...words, metadata: { ...metadata, managedFields } };
}

/**
 * An entry in the former version is in its words already, and as good: who moved it would take
 * turns with those who ask in that version, for as long as both are served.
 */
function managed(entry: Fields, parts: readonly Part[]): Fields {
  if (versionIn(entry['apiVersion']) !== LATER) return entry;
  const apiVersion = apiVersionOf(WRITTEN);
  const { fieldsV1 } = entry;
  const status = isRecord(fieldsV1) ? fieldsV1['f:status'] : undefined;
  if (!isRecord(fieldsV1) || !isRecord(status)) return { ...entry, apiVersion };
  const said = wordsIn(WRITTEN, { status: renamed(status, bare) }, parts)['status'];
  const fields = isRecord(said) ? renamed(said, marked) : status;
  return { ...entry, apiVersion, fieldsV1: { ...fieldsV1, 'f:status': fields } };
}

/** A status is said in other words at its first level alone. */
const renamed = (fields: Fields, name: (name: string) => string): Fields =>
  Object.fromEntries(Object.entries(fields).map(([before, value]) => [name(before), value]));

const bare = (name: string): string => name.replace(/^f:/, '');
const marked = (name: string): string => (/^(\.$|[kv]:)/.test(name) ? name : `f:${name}`);
