/**
 * Where the whole texts of hosted workspaces are stored: immutable objects in R2, named by their content.
 *
 *   texts/<tenant>/packs/<id>   texts of some files, shared by workspaces, branches and revisions
 *   texts/<tenant>/filters/<v>-<id>   n-gram filters of the texts of a pack; derived from it
 *   texts/<tenant>/lists/<id>   paths of one revision, and where the text of each is
 *
 * `texts` (Postgres) names the newest pack of each file's text; `revisions.text_list` and `text_packs` name what a revision reads.
 * Writers put an object even where it exists: the sweep spares young objects, and a put makes it young.
 */
import { EARLIER_FILTER_FILE_VERSION, FILTER_FILE_VERSION } from "../../../engines/exact/filter-file.ts";
import { LIST_VERSION } from "../../../engines/texts/file-list.ts";
import { PACK_VERSION } from "../../../engines/texts/pack.ts";

export const TEXTS_PREFIX = "texts/";
export const packKey = (tenantId: string, id: string): string => `${TEXTS_PREFIX}${tenantId}/packs/${id}`;
/** Of the filters of a pack. */
export const filtersKey = (tenantId: string, packId: string): string =>
  `${TEXTS_PREFIX}${tenantId}/filters/${FILTER_FILE_VERSION}-${packId}`;
/** Of its filters of the version before, which are read until the daily sweep has made those of this one. */
export const earlierFiltersKey = (tenantId: string, packId: string): string =>
  `${TEXTS_PREFIX}${tenantId}/filters/${EARLIER_FILTER_FILE_VERSION}-${packId}`;
export const listKey = (tenantId: string, id: string): string => `${TEXTS_PREFIX}${tenantId}/lists/${id}`;

/** Begins the id of every pack that this version reads; other texts are stored again by the next run. */
export const PACK_ID_PREFIX = `${PACK_VERSION}-`;
/** Begins the id of every list that this version reads and that lacks nothing. */
export const LIST_ID_PREFIX = `${LIST_VERSION}.${PACK_VERSION}-`;
/** Begins the id of a list in which texts are marked as damaged: the next run pulls them again. */
export const DAMAGED_LIST_PREFIX = `${LIST_VERSION}.${PACK_VERSION}.damaged-`;

/** Whether the texts of a revision can be read by this version. */
export const isListed = (textList: string | null): textList is string =>
  textList?.startsWith(LIST_ID_PREFIX) === true || textList?.startsWith(DAMAGED_LIST_PREFIX) === true;

/** Whether the texts of a revision are all stored, so that a run of the same commit has nothing to do for them. */
export const isWhole = (textList: string | null): textList is string => textList?.startsWith(LIST_ID_PREFIX) === true;
