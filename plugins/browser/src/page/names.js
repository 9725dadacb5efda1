// What an element is and how it is called, as accessibility interfaces have it: a
// subset of ARIA in HTML and of the computation of accessible names.

const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file',
};
const ROLES = {
  article: 'article', aside: 'complementary', blockquote: 'blockquote', button: 'button', caption: 'caption',
  code: 'code', dd: 'definition', details: 'group', dialog: 'dialog', dt: 'term', fieldset: 'group',
  figure: 'figure', footer: 'contentinfo', form: 'form', frame: 'iframe', h1: 'heading', h2: 'heading',
  h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', header: 'banner', hr: 'separator',
  iframe: 'iframe', li: 'listitem', main: 'main', menu: 'list', meter: 'meter', nav: 'navigation', ol: 'list',
  optgroup: 'group', option: 'option', output: 'status', p: 'paragraph', progress: 'progressbar',
  search: 'search', summary: 'button', table: 'table', td: 'cell', textarea: 'textbox', tr: 'row', ul: 'list',
  video: 'video', audio: 'audio', canvas: 'canvas',
};
const INTERACTIVE = new Set([
  'button', 'link', 'checkbox', 'radio', 'slider', 'spinbutton', 'searchbox', 'textbox', 'combobox', 'listbox',
  'option', 'switch', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'treeitem', 'gridcell', 'scrollbar',
  'file', 'iframe',
]);
const NAMED_BY_CONTENT = new Set([
  'button', 'link', 'heading', 'option', 'switch', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
  'treeitem', 'checkbox', 'radio', 'caption', 'tooltip', 'columnheader', 'rowheader', 'gridcell',
]);

function squeeze(text, most = NAME) {
  // Nobody sees these, and the host takes them out of what a model reads: a name is the same to both. Joiners and
  // selectors of emoji stay, since words need them.
  const hidden = /(?![\u200c\u200d\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu;
  const clean = String(text ?? '').slice(0, most * 8).replace(/[\s\p{Cc}\u200b]+/gu, ' ').replace(hidden, '').trim();
  return clean.length > most ? clean.slice(0, most).toWellFormed() + '…' : clean.toWellFormed();
}

function isInSection(element) {
  return Boolean(element.parentElement?.closest('article,aside,main,nav,section'));
}

function roleOf(element) {
  const explicit = (element.getAttribute('role') || '').trim().toLowerCase().split(/\s+/)[0];
  if (/^[a-z]{2,40}$/.test(explicit) && explicit !== 'none' && explicit !== 'presentation' && explicit !== 'generic') return explicit;
  const tag = element.localName;
  switch (tag) {
    case 'a':
    case 'area':
      return element.hasAttribute('href') ? 'link' : '';
    case 'input':
      if (element.type === 'hidden') return '';
      if (element.hasAttribute('list')) return 'combobox';
      return INPUT_ROLES[element.type] || 'textbox';
    case 'select':
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'img':
      return explicit || element.getAttribute('alt') === '' ? '' : 'img';
    case 'svg':
      return element.getAttribute('aria-label') || element.querySelector(':scope > title') ? 'img' : '';
    case 'th':
      return element.scope === 'row' ? 'rowheader' : 'columnheader';
    case 'header':
    case 'footer':
      return isInSection(element) ? '' : ROLES[tag];
    case 'section':
      return element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') ? 'region' : '';
    default:
      if (explicit) return '';
      if (element.isContentEditable && !parentOf(element)?.isContentEditable) return 'textbox';
      return Object.hasOwn(ROLES, tag) ? ROLES[tag] : '';
  }
}

// Its role, else its tag.
function kindOf(element, role = roleOf(element)) {
  return role || element.localName.replace(/[^a-z0-9-]/g, '').slice(0, 40);
}

// The text that a person reads in a node, alternatives of images included.
function textOf(node, most = NAME) {
  const parts = [];
  const budget = { nodes: 2_000, characters: most * 4 };
  const collect = (at, depth) => {
    if (depth > 60 || budget.nodes-- <= 0 || budget.characters <= 0) return;
    if (at.nodeType === 3) {
      const text = at.data.slice(0, budget.characters);
      budget.characters -= text.length;
      parts.push(text);
      return;
    }
    if (at.nodeType !== 1 && at.nodeType !== 11) return;
    if (at.nodeType === 1 && depth > 0) {
      if (isGone(at) || at.getAttribute('aria-hidden') === 'true') return;
      const label = at.getAttribute('aria-label') || (at.localName === 'img' ? at.getAttribute('alt') : '');
      if (label) {
        parts.push(` ${label} `);
        return;
      }
      if (at.localName === 'select') {
        parts.push(` ${[...at.selectedOptions].map((option) => option.label).join(', ')} `);
        return;
      }
      if (at.localName === 'input' && !['hidden', 'password', 'checkbox', 'radio', 'file'].includes(at.type)) {
        parts.push(` ${at.value} `);
        return;
      }
    }
    const block = at.nodeType === 1 && depth > 0 && !styleOf(at)?.display.startsWith('inline');
    if (block || at.localName === 'br') parts.push(' ');
    for (const child of childrenOf(at)) collect(child, depth + 1);
    if (block) parts.push(' ');
  };
  collect(node, 0);
  return squeeze(parts.join(''), most);
}

// The accessible name.
function nameOf(element, role = roleOf(element)) {
  const root = element.getRootNode();
  const ids = (element.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean).slice(0, 8);
  if (ids.length && root.getElementById) {
    const text = ids.map((id) => root.getElementById(id)).filter(Boolean).map((label) => textOf(label)).join(' ');
    if (text.trim()) return squeeze(text);
  }
  const label = squeeze(element.getAttribute('aria-label'));
  if (label) return label;
  const native = nativeName(element, role);
  if (native) return native;
  if (NAMED_BY_CONTENT.has(role)) {
    const text = textOf(element);
    if (text) return text;
  }
  return squeeze(element.getAttribute('title')) || squeeze(element.getAttribute('placeholder'));
}

function nativeName(element, role) {
  const tag = element.localName;
  if (tag === 'input' && ['button', 'submit', 'reset'].includes(element.type)) {
    const usual = { submit: 'Submit', reset: 'Reset' }[element.type];
    return squeeze(element.value) || squeeze(element.getAttribute('title')) || usual || '';
  }
  if (tag === 'img' || tag === 'area' || (tag === 'input' && element.type === 'image')) return squeeze(element.getAttribute('alt'));
  if (tag === 'svg') return squeeze(element.querySelector(':scope > title')?.textContent);
  if (tag === 'fieldset') return squeeze(element.querySelector(':scope > legend')?.textContent);
  if (tag === 'figure') return squeeze(element.querySelector(':scope > figcaption')?.textContent);
  if (tag === 'table') return squeeze(element.caption?.textContent);
  if (tag === 'details') return textOf(element.querySelector(':scope > summary') || element, 80);
  if (tag === 'optgroup' || tag === 'option') return squeeze(element.label);
  if (tag === 'iframe' || tag === 'frame') return squeeze(element.title || element.name);
  if (element.labels?.length && role !== '') {
    return squeeze([...element.labels].slice(0, 4).map((one) => labelText(one, element)).join(' '));
  }
  return '';
}

// A label without the value of the field that it wraps.
function labelText(label, field) {
  if (!label.contains(field)) return textOf(label);
  const parts = [];
  for (const child of childrenOf(label)) {
    if (child === field || (child.nodeType === 1 && child.contains(field) && child.matches('input,select,textarea'))) continue;
    if (child.nodeType === 3) parts.push(child.data);
    else if (child.nodeType === 1 && !isGone(child)) parts.push(child.contains(field) ? labelText(child, field) : textOf(child));
  }
  return squeeze(parts.join(' '));
}

// Whether a person would try to click, type or choose there.
function isInteractive(element, role = roleOf(element)) {
  if (INTERACTIVE.has(role)) return !(role === 'option' && element.localName === 'option');
  if (element.isContentEditable && !parentOf(element)?.isContentEditable) return true;
  if (element.hasAttribute('onclick') || (element.hasAttribute('tabindex') && element.tabIndex >= 0)) return true;
  if (['body', 'html', 'label'].includes(element.localName)) return false;
  const parent = parentOf(element);
  const pointer = styleOf(element)?.cursor === 'pointer';
  return pointer && !(parent?.nodeType === 1 && styleOf(parent)?.cursor === 'pointer');
}

function isDisabled(element) {
  try {
    if (element.matches(':disabled')) return true;
  } catch {
    return false;
  }
  return Boolean(element.closest('[aria-disabled="true"],[inert]'));
}

// What there is to say of its state, in words such as `checked`.
function statesOf(element, role) {
  const states = [];
  const aria = (name) => element.getAttribute(`aria-${name}`);
  if (role === 'heading') states.push(`level=${aria('level') || element.localName.slice(1) || 2}`);
  const native = element.localName === 'input' && (element.type === 'checkbox' || element.type === 'radio');
  if (native ? element.indeterminate : aria('checked') === 'mixed') states.push('mixed');
  else if (native ? element.checked : aria('checked') === 'true') states.push('checked');
  if (aria('selected') === 'true') states.push('selected');
  if (aria('pressed') === 'true') states.push('pressed');
  if (aria('current') && aria('current') !== 'false') states.push('current');
  const open = element.localName === 'summary' ? String(element.parentElement?.open ?? false) : aria('expanded');
  if (open === 'true') states.push('expanded');
  if (open === 'false') states.push('collapsed');
  if (isDisabled(element)) states.push('disabled');
  if (element.readOnly) states.push('readonly');
  if (element.required || aria('required') === 'true') states.push('required');
  if (aria('invalid') === 'true') states.push('invalid');
  if (element.ownerDocument.activeElement === element && element !== bodyOf(element.ownerDocument)) states.push('focused');
  return states;
}

// What a field holds; never a password.
function valueOf(element, role) {
  if (element.localName === 'select') return squeeze([...element.selectedOptions].map((option) => option.label).join(', '));
  if (element.localName === 'textarea') return squeeze(element.value);
  if (element.localName === 'input') {
    if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image'].includes(element.type)) return '';
    if (element.type === 'password') return element.value ? '••••' : '';
    if (element.type === 'file') return squeeze([...element.files].map((file) => file.name).join(', '));
    return squeeze(element.value);
  }
  if (role === 'textbox' && element.isContentEditable) return textOf(element);
  const now = element.getAttribute('aria-valuetext') || element.getAttribute('aria-valuenow');
  if (now) return squeeze(now);
  if (element.localName === 'progress' || element.localName === 'meter') return String(element.value);
  return '';
}
