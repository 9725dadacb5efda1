// Which element is meant, whether it can be acted on as a person would, and what
// is there in place of one that cannot be found.

const REFERENCE = /^[a-z]{1,15}\de\d{1,9}$/;

// All that a target names: a reference, `text=…`, or a CSS selector.
function matching(target) {
  if (REFERENCE.test(target)) {
    const found = refer(target);
    return found.element ? { found: [found.element] } : { problem: found.problem, found: [] };
  }
  if (target.startsWith('text=')) return { found: called(target.slice(5)) };
  try {
    document.createDocumentFragment().querySelector(target);
  } catch {
    return { problem: 'selector', found: [] };
  }
  const found = [];
  for (const element of elements(document.documentElement)) {
    if (element.matches(target)) found.push(element);
    if (found.length >= 1_000) break;
  }
  return { found };
}

// Elements that are called so: exactly, else in part; those that can be acted on
// before those that merely say so.
function called(text) {
  const wanted = squeeze(text).toLowerCase();
  if (!wanted) return [];
  const [exact, part, saying] = [[], [], []];
  for (const element of elements(bodyOf(), (at) => !isGone(at))) {
    const role = roleOf(element);
    if (isInteractive(element, role)) {
      const name = (nameOf(element, role) || textOf(element)).toLowerCase();
      if (name === wanted) exact.push(element);
      else if (name.includes(wanted)) part.push(element);
    } else if ([...element.childNodes].some((child) => child.nodeType === 3 && squeeze(child.data).toLowerCase().includes(wanted))) {
      saying.push(element);
    }
  }
  const visible = (found) => found.filter(isVisible);
  for (const found of [exact, part, saying]) {
    if (visible(found).length) return visible(found);
  }
  return [...exact, ...part, ...saying];
}

// The one element that a target names.
function single(target) {
  const { found, problem } = matching(target);
  if (problem) return { problem };
  if (!found.length) return { problem: 'none' };
  if (found.length === 1) return { element: found[0] };
  const visible = found.filter(isVisible);
  if (visible.length === 1) return { element: visible[0] };
  const shown = (visible.length ? visible : found).slice(0, 6);
  return { problem: 'many', count: visible.length || found.length, found: shown.map(brief) };
}

function brief(element) {
  const role = kindOf(element);
  return { ref: referenceOf(element), role, name: nameOf(element, role) || textOf(element, 60) };
}

// What a person might have meant instead, and what there is at all.
function near(target) {
  const words = target.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1 && word !== 'text');
  const counts = {};
  const scored = [];
  for (const element of elements(bodyOf(), (at) => !isGone(at))) {
    const role = roleOf(element);
    if (!isInteractive(element, role) || !isVisible(element)) continue;
    const kind = role || 'clickable';
    counts[kind] = (counts[kind] || 0) + 1;
    if (scored.length >= 2_000) continue;
    const name = nameOf(element, role) || textOf(element, 60);
    const hay = `${name} ${element.id} ${element.getAttribute('name') || ''} ${element.className?.baseVal ?? element.className} ${element.type || ''} ${role} ${element.localName}`.toLowerCase();
    const score = words.reduce((sum, word) => sum + (hay.includes(word) ? word.length : common(word, hay)), 0);
    scored.push({ element, score });
  }
  scored.sort((left, right) => right.score - left.score);
  const likely = scored.filter(({ score }) => score > 1).slice(0, 4);
  return { counts, likely: (likely.length ? likely : scored.slice(0, 4)).map(({ element }) => brief(element)), similar: likely.length > 0 };
}

// How many letters at its beginning a word shares with some word of a text, where
// that is at least three.
function common(word, text) {
  for (let length = word.length - 1; length >= 3; length--) {
    if (text.includes(word.slice(0, length))) return length / 2;
  }
  return 0;
}

// A problem with what is near; `last` where waiting longer changes nothing.
function problemOf(target, found) {
  const looks = ['none', 'many', 'stale', 'unknown', 'detached', 'selector'].includes(found.problem);
  return looks ? { ...found, near: near(target) } : found;
}

// The element once it can be acted on as `needs` says, or what keeps it from that
// when the time is over.
async function ready(target, needs, milliseconds) {
  const end = performance.now() + milliseconds;
  for (;;) {
    const found = await look(target, needs);
    const final = ['stale', 'unknown', 'selector'].includes(found.problem);
    if (!found.problem) return found;
    if (final || performance.now() >= end) return problemOf(target, found);
    await pause(50);
  }
}

async function look(target, needs) {
  const { element, ...problem } = single(target);
  if (!element) return problem;
  const role = roleOf(element);
  const known = { element, ...brief(element), tag: element.localName, type: element.type || '' };
  if (!needs.length) return known;
  const fails = (what, more = {}) => ({ problem: what, ...brief(element), ...more });
  // A person clicks the label of a box that is drawn by its style.
  const subject = !isVisible(element) && element.labels?.length && [...element.labels].some(isVisible)
    ? [...element.labels].find(isVisible) : element;
  if (!isVisible(subject) && role !== 'file') return fails('hidden');
  if (needs.includes('enabled') && isDisabled(element)) return fails('disabled');
  if (needs.includes('editable') && element.readOnly) return fails('readonly');
  if (!isWithin(subject)) subject.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  if (!needs.includes('point')) return known;
  const before = subject.getBoundingClientRect();
  await pause(30);
  const after = subject.getBoundingClientRect();
  if (['x', 'y', 'width', 'height'].some((side) => Math.abs(before[side] - after[side]) > 0.5)) return fails('moving');
  const points = pointsOf(subject);
  if (!points.length) return fails('outside');
  let by = null;
  for (const point of points) {
    const hit = hitAt(subject, point);
    if (hit === true) return { ...known, x: point.x, y: point.y };
    by ??= hit;
  }
  return fails('covered', { by: by ? { ...brief(by), tag: by.localName, id: squeeze(by.id, 60) } : null });
}

function isWithin(element) {
  const [area, offset] = [element.getBoundingClientRect(), offsetOf(element)];
  const [left, top] = [area.left + offset.x, area.top + offset.y];
  return left >= 0 && top >= 0 && left + area.width <= innerWidth && top + area.height <= innerHeight;
}

// Points of an element that can be seen, its middle first, from the top left of
// what is seen of the page.
function pointsOf(element) {
  const offset = offsetOf(element);
  const points = [];
  for (const part of [...element.getClientRects()].slice(0, 8)) {
    const [left, right] = [Math.max(part.left + offset.x, 0), Math.min(part.right + offset.x, innerWidth)];
    const [top, bottom] = [Math.max(part.top + offset.y, 0), Math.min(part.bottom + offset.y, innerHeight)];
    if (right - left < 1 || bottom - top < 1) continue;
    const at = (across, down) => ({ x: left + (right - left) * across, y: top + (bottom - top) * down });
    points.push(at(0.5, 0.5), at(0.2, 0.5), at(0.8, 0.5), at(0.5, 0.2), at(0.5, 0.8));
  }
  return points;
}

// Whether a click there hits the element; else what it hits.
function hitAt(element, point) {
  const offset = offsetOf(element);
  const page = element.ownerDocument;
  let hit = page.elementFromPoint(point.x - offset.x, point.y - offset.y);
  while (hit?.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(point.x - offset.x, point.y - offset.y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  for (let at = hit; at && at.nodeType === 1; at = parentOf(at)) {
    if (at === element || (at.localName === 'label' && at.control === element)) return topmost(page, point);
  }
  // A wrapper of nothing else than the element passes the click on.
  if (hit && hit.contains(element) && hit.localName === 'label') return topmost(page, point);
  return hit;
}

// Whether nothing covers the frame of an inner document there; else what does.
function topmost(page, point) {
  if (page === document) return true;
  let frame = page.defaultView?.frameElement;
  while (frame && frame.ownerDocument !== document) frame = frame.ownerDocument.defaultView?.frameElement;
  if (!frame) return true;
  const hit = document.elementFromPoint(point.x, point.y);
  return !hit || hit === frame || frame.contains(hit) || hit.contains(frame) || hit.shadowRoot ? true : hit;
}

// All that is worth knowing of one element.
function detailsOf(element, bytes) {
  const role = roleOf(element);
  const offset = offsetOf(element);
  const area = element.getBoundingClientRect();
  const attributes = {};
  for (const { name, value } of [...element.attributes].slice(0, 40)) {
    attributes[squeeze(name, 80)] = element.type === 'password' && name === 'value' ? '••••' : squeeze(value, 300);
  }
  const round = (number) => Math.round(number * 10) / 10;
  const html = markup(element);
  return {
    ...brief(element),
    tag: element.localName,
    states: statesOf(element, role),
    visible: isVisible(element),
    enabled: !isDisabled(element),
    value: valueOf(element, role),
    text: textOf(element, 2_000),
    attributes,
    options: element.localName === 'select'
      ? [...element.options].slice(0, 200).map((option) => ({ label: squeeze(option.label), value: squeeze(option.value), selected: option.selected }))
      : [],
    box: { x: round(area.x + offset.x), y: round(area.y + offset.y), width: round(area.width), height: round(area.height) },
    html: html.slice(0, cut(html, 0, bytes)),
  };
}
