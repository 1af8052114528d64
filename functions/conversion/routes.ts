// The one route: where the API server sends objects that somebody wants in another version.
import type { Route } from '../../shared/function/define.ts';
import { decodeJson, decodeText } from '../../shared/function/json.ts';
import { parseLossless } from '../../shared/kube/json.ts';
import { Failure } from '../../shared/errors.ts';
import type { Deps } from './deps.ts';
import { answerReview } from './review.ts';

/**
 * An object has 1.5 MB at most in etcd, and 500 of our largest kind with a full status have some
 * 5 MB.
 */
export const REVIEW_BYTES_MAX = 16 * 1024 * 1024;
/** Bounds what parsing takes beside the text: a megabyte of empty lists would be thirty. */
const PARSED_BYTES_MAX = 128 * 1024 * 1024;

const CONVERT: Route<Deps> = {
  method: 'POST',
  path: '/convert',
  summary: 'Converts the objects of a ConversionReview to the version that it names.',
  takesFile: {
    sizeBytesMax: REVIEW_BYTES_MAX,
    advice: 'ask for fewer objects at once',
    isJson: true,
  },
  handle: ({ file = Buffer.alloc(0) }) => ({ body: answerReview(reviewIn(file)) }),
};

export const routes: readonly Route<Deps>[] = [CONVERT];

/** Integers that a number cannot hold are read once more, digit by digit. */
function reviewIn(bytes: Buffer): unknown {
  const plain = decodeJson(bytes, 'body', assertFits);
  const text = decodeText(bytes, 'body');
  return LONG_NUMBER.test(text) ? parseLossless(text) : plain;
}

const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

function assertFits(sizeBytes: number): void {
  if (sizeBytes <= PARSED_BYTES_MAX) return;
  const message = 'The body has more values than fit into memory; ask for fewer objects at once.';
  throw new Failure('BODY_TOO_LARGE', message, { field: 'body' });
}
