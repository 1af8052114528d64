// Answers a ConversionReview: all of its objects, or a failure that names the first which cannot be
// converted. Pure.
import { quoted } from '../../shared/cut.ts';
import { Failure } from '../../shared/errors.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import { convertObject, Unconvertible } from '../../shared/kube/own-kinds/convert.ts';
import { KINDS } from '../../shared/kube/own-kinds/kinds.ts';
import type { Fields } from '../../shared/kube/own-kinds/part.ts';
import { GROUP, type Version, VERSIONS, versionIn } from '../../shared/kube/own-kinds/versions.ts';

const API_VERSION = 'apiextensions.k8s.io/v1';
const KIND = 'ConversionReview';

export interface ReviewAnswer {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: typeof KIND;
  readonly response: {
    readonly uid: string;
    readonly convertedObjects: readonly unknown[];
    readonly result:
      | { readonly status: 'Success' }
      | { readonly status: 'Failure'; readonly reason: 'Invalid'; readonly message: string };
  };
}

/** Says which object it is, and why. */
class Refused extends Error {}

interface Request {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly unknown[];
}

/** Throws a Failure for what is no review: there is no `uid` that an answer could have. */
export function answerReview(review: unknown): ReviewAnswer {
  const { uid, desiredAPIVersion, objects } = requestOf(review);
  const answer = { apiVersion: API_VERSION, kind: KIND } as const;
  try {
    const to = versionOf(desiredAPIVersion, 'request.desiredAPIVersion');
    const convertedObjects = objects.map((object, index) => convertedAt(object, index, to));
    return { ...answer, response: { uid, convertedObjects, result: { status: 'Success' } } };
  } catch (error) {
    if (!(error instanceof Unconvertible || error instanceof Refused)) throw error;
    const result = { status: 'Failure', reason: 'Invalid', message: error.message } as const;
    return { ...answer, response: { uid, convertedObjects: [], result } };
  }
}

function convertedAt(object: unknown, index: number, to: Version): Fields {
  if (!isRecord(object)) {
    throw new Refused(`request.objects[${index}] is not an object.`);
  }
  try {
    const from = versionOf(object['apiVersion'], 'apiVersion');
    const parts = KINDS.get(textOf(object['kind']));
    if (parts === undefined) {
      throw new Unconvertible('kind', `${shown(object['kind'])} is none of ${GROUP}`);
    }
    return convertObject(object, parts, from, to);
  } catch (error) {
    if (!(error instanceof Unconvertible)) throw error;
    const which = `${nameOf(object)} (request.objects[${index}])`;
    throw new Refused(`${which} cannot be converted: ${error.message}.`);
  }
}

function versionOf(apiVersion: unknown, field: string): Version {
  const version = versionIn(apiVersion);
  if (version !== undefined) return version;
  const known = VERSIONS.map((one) => `${GROUP}/${one}`).join(' and ');
  throw new Unconvertible(field, `${shown(apiVersion)} is unknown; ${known} are converted`);
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? quoted(value) : `of type ${typeof value}`;

/** As `EtcdCluster shop/main`. */
function nameOf({ kind, metadata }: Fields): string {
  const { namespace, name } = isRecord(metadata) ? metadata : {};
  const place = [namespace, name].map(textOf).filter((one) => one !== '');
  return quoted([textOf(kind), place.join('/')].filter((one) => one !== '').join(' '));
}

function requestOf(review: unknown): Request {
  if (!isRecord(review)) throw invalid('the body', 'is not an object');
  const { apiVersion, kind, request } = review;
  if (kind !== KIND) throw invalid('kind', `is not ${KIND}`);
  if (apiVersion !== API_VERSION) throw invalid('apiVersion', `is not ${API_VERSION}`);
  if (!isRecord(request)) throw invalid('request', 'is not an object');
  const { uid, desiredAPIVersion, objects } = request;
  if (textOf(uid) === '') throw invalid('request.uid', 'is not a text');
  if (typeof desiredAPIVersion !== 'string') {
    throw invalid('request.desiredAPIVersion', 'is not a text');
  }
  if (!Array.isArray(objects)) throw invalid('request.objects', 'is not a list');
  return { uid: textOf(uid), desiredAPIVersion, objects };
}

function invalid(field: string, why: string): Failure {
  const message = `This is no ${KIND} of ${API_VERSION}: ${field} ${why}.`;
  return new Failure('REVIEW_INVALID', message, { field });
}
