# With this a bash says where its prompts are, when a command begins and how it
# ended: OSC 133 with a nonce, so that no program can say it instead. It is read
# in place of ~/.bashrc, which it reads first.

__wharf_nonce=${WHARF_SHELL_NONCE-}
unset WHARF_SHELL_NONCE

if [[ -r ~/.bashrc ]]; then
    . ~/.bashrc
fi

if [[ -n $__wharf_nonce && $- == *i* ]]; then
    export -n __wharf_nonce

    # Before all others, which find the exit code as it was. The first prompt
    # ends no command. No tracing, or the nonce would be shown.
    __wharf_prompted=
    __wharf_ended() {
        local code=$? -
        set +eux
        if [[ -n $__wharf_prompted ]]; then
            builtin printf '\e]133;D;%s;nonce=%s\a' "$code" "$__wharf_nonce" >&2
        fi
        __wharf_prompted=yes
        # Those of a list get the code anyway, and a failure may end the shell.
        if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
            return "$code"
        fi
    }

    # After all others, which may have made a new prompt. The nonce is looked up
    # when a prompt is shown, since prompts may go to other shells.
    __wharf_mark_prompts() {
        local code=$? -
        set +eux
        if [[ $PS1 != *'133;A;'* ]]; then
            PS1='\[\e]133;A;nonce=${__wharf_nonce-}\a\]'$PS1'\[\e]133;B;nonce=${__wharf_nonce-}\a\]'
        fi
        if [[ ${PS2-} != *'133;A;'* ]]; then
            PS2='\[\e]133;A;k=s;nonce=${__wharf_nonce-}\a\]'${PS2-}'\[\e]133;B;nonce=${__wharf_nonce-}\a\]'
        fi
        if [[ ${PS0-} != *'133;C;'* ]]; then
            PS0='\e]133;C;nonce=${__wharf_nonce-}\a'${PS0-}
        fi
        if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
            return "$code"
        fi
    }

    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
        PROMPT_COMMAND=__wharf_ended$'\n'${PROMPT_COMMAND-}$'\n'__wharf_mark_prompts
    else
        PROMPT_COMMAND=(__wharf_ended ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"} __wharf_mark_prompts)
    fi
fi
