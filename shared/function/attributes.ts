// The attribute rules of CloudEvents 1.0.2, for events that come in and for the ones that go out:
// names, types and the form of each attribute that the specification defines. The SDK checks none
// of this on the way in.
import { isLongerThan } from '../cut.ts';
import { parseMediaType } from './media-type.ts';

export type AttributeValue = string | number | boolean;

/**
 * One attribute. Servers and proxies take a header line of 4 to 8 KiB, so that a longer one could
 * not go on in binary mode.
 */
const ATTRIBUTE_BYTES_MAX = 4 * 1024;
/** All of them, names and values: what binary mode has in its headers at most. */
export const ATTRIBUTES_BYTES_MAX = 16 * 1024;

const REQUIRED = ['specversion', 'id', 'source', 'type'] as const;

const NAME = /^[a-z0-9]+$/;
/**
 * URI characters with whole escapes. A first segment with a colon passes, since `host:6443` is a
 * source in the wild.
 */
const URI_CHARACTER = String.raw`(?:[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})`;
const URI_REFERENCE = new RegExp(`^${URI_CHARACTER}*(?:#${URI_CHARACTER}*)?$`);
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const DATE = String.raw`(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`;
const CLOCK = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`;
const SECONDS = String.raw`(?:[0-5]\d|60)(?:\.\d+)?`;
const RFC3339 = new RegExp(`^${DATE}[Tt]${CLOCK}:${SECONDS}(?:[Zz]|[+-]${CLOCK})$`);
/** Control characters, noncharacters and lone surrogates: no attribute may hold them. */
const FORBIDDEN_CHARACTER = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;
const INT32_MAX = 2 ** 31;

export function isUriReference(value: string): boolean {
  return URI_REFERENCE.test(value);
}

/** Undefined when the name is allowed; otherwise the rule that it breaks. */
export function nameProblem(name: string): string | undefined {
  if (name === 'data') return "'data' is reserved for the payload and cannot be an attribute";
  if (NAME.test(name)) return undefined;
  return 'attribute names consist of lower-case letters and digits only';
}

/** Undefined when the value is allowed; otherwise the rule that it breaks. */
export function valueProblem(name: string, value: AttributeValue): string | undefined {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (typeof value !== 'string') {
    if (rule !== undefined) return 'must be a string';
    if (typeof value === 'boolean') return undefined;
    const isInt32 = Number.isInteger(value) && value >= -INT32_MAX && value < INT32_MAX;
    return isInt32 ? undefined : 'must be a whole number of 32 bits, a boolean or a string';
  }
  const tooLong = lengthProblem(value);
  if (tooLong !== undefined) return tooLong;
  if (FORBIDDEN_CHARACTER.test(value)) return 'holds a control character or a broken one';
  return rule?.(value);
}

/** Before anything else looks at it: what is too long may be megabytes. */
export function lengthProblem(value: string): string | undefined {
  if (!isLongerThan(value, ATTRIBUTE_BYTES_MAX)) return undefined;
  return `must not be longer than ${ATTRIBUTE_BYTES_MAX} bytes`;
}

type Rule = (value: string) => string | undefined;

const notEmpty: Rule = (value) => (value === '' ? 'must not be empty' : undefined);

const rules: Readonly<Record<string, Rule>> = {
  specversion: (value) => (value === '1.0' ? undefined : "must be '1.0'"),
  id: notEmpty,
  source: (value) =>
    notEmpty(value) ?? (isUriReference(value) ? undefined : 'must be a URI reference'),
  type: notEmpty,
  subject: notEmpty,
  datacontenttype: (value) =>
    parseMediaType(value) === undefined ? 'must be a media type' : undefined,
  dataschema: (value) =>
    SCHEME.test(value) && isUriReference(value) ? undefined : 'must be an absolute URI',
  time: (value) => (isTimestamp(value) ? undefined : 'must be a time as RFC 3339 writes it'),
};

function isTimestamp(value: string): boolean {
  const [, year, month, day] = RFC3339.exec(value) ?? [];
  if (year === undefined) return false;
  // The pattern lets 31 February through; the calendar does not.
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}

/** The first required attribute that an event lacks; undefined when it has them all. */
export function missingAttribute(event: Readonly<Record<string, unknown>>): string | undefined {
  return REQUIRED.find((name) => event[name] === undefined);
}

export const isAttributeValue = (value: unknown): value is AttributeValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
