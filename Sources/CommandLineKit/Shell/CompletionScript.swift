/// What shells are told. Each script only carries words to `TOOL complete`, and its answer back.
enum CompletionScript {
    private static func function(_ tool: String) -> String { "_" + tool.map { $0 == "-" ? "_" : $0 } }

    static func bash(_ tool: String) -> String {
        #"""
        # Completion of TOOL for bash, written by: TOOL completion bash
        FUNCTION() {
            # Bash parts words at = and :, the tool does not. What no blank stands before belongs to the word before.
            local rest=${COMP_LINE:0:COMP_POINT} words=() index word gap
            for ((index = 0; index <= COMP_CWORD; index++)); do
                gap=${rest%%[![:space:]]*}
                rest=${rest#"$gap"}
                word=${COMP_WORDS[index]}
                if ((index == COMP_CWORD)); then word=$rest; fi
                rest=${rest#"$word"}
                if [[ -z $gap ]] && ((${#words[@]} > 0)); then
                    words[-1]+=$word
                else
                    words+=("$word")
                fi
            done
            # Behind an opened quote only what ends it, or is more than itself, is to be escaped: names come from others.
            local raw=${words[-1]}
            words=("${words[@]//[\\\"\']/}")
            # Bash replaces $2, the end of the word; what is before stays.
            local end=${2//[\\\"\']/} paths= kept
            kept=${words[-1]%"$end"}
            COMPREPLY=()
            while IFS=$'\t' read -r word _; do
                if [[ -z $paths ]]; then
                    paths=$word
                    continue
                fi
                word=${word#"$kept"}
                if [[ $paths == none ]]; then
                    case $raw in
                        \"*) for gap in \\ \" '$' '`'; do word=${word//"$gap"/\\"$gap"}; done ;;
                        \'*) gap=\'; word=${word//"$gap"/"$gap"\\"$gap$gap"} ;;
                        *) printf -v word %q "$word" ;;
                    esac
                fi
                COMPREPLY+=("$word")
            done < <(command TOOL complete -- "${words[@]:1}" 2>/dev/null)
            case $paths in
                files) gap=-f ;;
                folders) gap=-d ;;
                *) return ;;
            esac
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$gap" -- "$end")
        }
        complete -o nosort -F FUNCTION TOOL

        """#.replacing("TOOL", with: tool).replacing("FUNCTION", with: function(tool))
    }

    static func zsh(_ tool: String) -> String {
        #"""
        #compdef TOOL
        # Completion of TOOL for zsh, written by: TOOL completion zsh
        FUNCTION() {
            local offered word meaning
            local -a found
            while IFS=$'\t' read -r word meaning; do
                if [[ -z $offered ]]; then
                    offered=$word
                    continue
                fi
                word=${word//\\/\\\\}
                found+=("${word//:/\\:}${meaning:+:$meaning}")
            done < <(command TOOL complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
            if (( $#found )); then _describe -V argument found; fi
            case $offered in
                files) compset -P '--*='; _files ;;
                folders) compset -P '--*='; _files -/ ;;
            esac
        }
        # As a file of the function path it is the function; read with source, it is announced.
        if [[ $funcstack[1] == _TOOL ]]; then FUNCTION "$@"; else compdef FUNCTION TOOL; fi

        """#.replacing("TOOL", with: tool).replacing("FUNCTION", with: function(tool))
    }

    static func fish(_ tool: String) -> String {
        #"""
        # Completion of TOOL for fish, written by: TOOL completion fish
        function FUNCTION
            set -l before (commandline -opc)
            set -e before[1]
            set -l current (commandline -ct | string unescape)
            set -l found (command TOOL complete -- $before "$current" 2>/dev/null)
            set -l offered $found[1]
            set -e found[1]
            for line in $found
                echo $line
            end
            set -l option (string match -r -- '^--[^=]*=' "$current")
            set -l value (string replace -r -- '^--[^=]*=' '' "$current")
            switch "$offered"
                case files
                    for path in (__fish_complete_path "$value")
                        echo "$option$path"
                    end
                case folders
                    for path in (__fish_complete_directories "$value" '')
                        echo "$option$path"
                    end
            end
        end
        complete -c TOOL -f -k -a '(FUNCTION)'

        """#.replacing("TOOL", with: tool).replacing("FUNCTION", with: function(tool))
    }
}
